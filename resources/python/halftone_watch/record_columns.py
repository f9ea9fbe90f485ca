"""The columns of the step record of one process, in file order.

Generated from engine/include/engine/record/step_columns.inc: after a change run
`build/dev/tests/handbook/handbook_tables columns >
resources/python/halftone_watch/record_columns.py`.
"""

COLUMNS = (
    ("step", "<i8"),
    ("epoch", "<i8"),
    ("samples", "<i8"),
    ("updates", "<i8"),
    ("elapsed_s", "<f8"),
    ("clock_s", "<f8"),
    ("memory_bytes", "<i8"),
    ("peak_bytes", "<i8"),
    ("loss", "<f4"),
    ("accuracy", "<f4"),
    ("lr", "<f4"),
    ("loss_scale", "<f4"),
    ("growth_tracker", "<i4"),
    ("found_inf", "u1"),
    ("grad_norm", "<f4"),
    ("grad_max", "<f4"),
    ("grad_max_exponent", "<f4"),
    ("scaled_f16_max", "<f4"),
    ("scale_ceiling", "<f4"),
    ("f16_zero_share", "<f4"),
    ("f16_subnormal_share", "<f4"),
    ("f16_overflow_share", "<f4"),
    ("lost_update_share", "<f4"),
    ("grad_zero_share", "<f4"),
    ("step_ms", "<f4"),
    ("data_ms", "<f4"),
    ("forward_ms", "<f4"),
    ("backward_ms", "<f4"),
    ("optimizer_ms", "<f4"),
    ("samples_per_s", "<f4"),
    ("metric_1", "<f4"),
    ("metric_2", "<f4"),
    ("metric_3", "<f4"),
    ("metric_4", "<f4"),
    ("metric_5", "<f4"),
    ("metric_6", "<f4"),
    ("metric_7", "<f4"),
    ("metric_8", "<f4"),
    ("scale_floor", "<f4"),
)
