"""The messages of summary files.

Field names and numbers are those MindSpore 2.10.0 writes and MindInsight 2.3.1 reads (measured).
"""

from __future__ import annotations

from harness.messages import build

EVENTS = build(
    "harness.framework.train.summary",
    {
        "Event": (
            "wall_time 1 double", "step 2 int64", "version 3 string", "graph_def 4 bytes", "summary 5 Summary",
        ),
        "Summary": ("*value 1 Value",),
        "Value": (
            "tag 1 string", "scalar_value 3 float", "image 4 Image", "tensor 8 Numbers", "histogram 9 Histogram",
            "loss_landscape 10 bytes",
        ),
        "Image": ("height 1 int32", "width 2 int32", "colorspace 3 int32", "encoded_image 4 bytes"),
        "Numbers": ("*dims 1 int64", "data_type 2 int32", "*float_data 3 float packed"),
        "Histogram": (
            "*buckets 1 Bucket", "nan_count 2 int64", "pos_inf_count 3 int64", "neg_inf_count 4 int64", "max 5 double",
            "min 6 double", "sum 7 double", "count 8 int64",
        ),
        "Bucket": ("left 1 double", "width 2 double", "count 3 int64"),
    },
)  # fmt: skip
"""A graph is kept as the bytes of ``harness.graph.pb``, a landscape as those of whoever made it."""

LINEAGE = build(
    "harness.framework.train.lineage",
    {
        "LineageEvent": (
            "wall_time 1 double", "step 2 int64", "train_lineage 6 TrainLineage",
            "evaluation_lineage 7 EvaluationLineage", "dataset_graph 9 DatasetGraph",
            "user_defined_info 10 UserDefinedInfo",
        ),
        "UserDefinedInfo": (
            "*user_info 1 UserDefinedInfo", "*map_int32 3 IntEntry", "*map_str 4 StrEntry", "*map_double 5 DoubleEntry",
        ),
        "TrainLineage": (
            "hyper_parameters 1 HyperParameters", "train_dataset 2 TrainDataset", "algorithm 3 Algorithm",
            "model 4 Model",
        ),
        "HyperParameters": (
            "optimizer 1 string", "learning_rate 2 float", "loss_function 3 string", "epoch 4 int32",
            "parallel_mode 5 string", "device_num 6 int32", "batch_size 8 int32",
        ),
        "TrainDataset": ("train_dataset_path 1 string", "train_dataset_size 2 int32"),
        "Algorithm": ("network 1 string", "loss 2 float"),
        "Model": ("path 3 string", "size 4 int64"),
        "EvaluationLineage": ("metric 2 string", "valid_dataset 3 ValidDataset"),
        "ValidDataset": ("valid_dataset_path 1 string", "valid_dataset_size 2 int32"),
        "DatasetGraph": ("*children 1 DatasetGraph", "parameter 2 OperationParameter"),
        "OperationParameter": ("*mapStr 1 StrEntry", "*mapBool 3 BoolEntry", "*mapInt 4 IntEntry"),
        "StrEntry": ("key 1 string", "value 2 string"),
        "BoolEntry": ("key 1 string", "value 2 bool"),
        "IntEntry": ("key 1 string", "value 2 int32"),
        "DoubleEntry": ("key 1 string", "value 2 double"),
    },
)  # fmt: skip
"""Maps are written as entries, as on the wire."""
