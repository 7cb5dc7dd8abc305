import pytest

torch = pytest.importorskip("torch")

from net import Net  # noqa: E402


@pytest.mark.msdump
def test_training(msdump):
    network = Net()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    x = torch.linspace(-1, 1, 128).reshape(2, 1, 8, 8)
    msdump.train(network, torch.nn.CrossEntropyLoss(), optimizer, [(x, torch.tensor([0, 1]))])
