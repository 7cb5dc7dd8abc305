"""Why a run left its golden: the origin's cause, proven by computing the operator again where that can be done."""
