#pragma once

#include "engine/base/message.h"
#include "engine/verdict/verdict.h"

namespace engine {

/// Whether a precision pays, judged by the steps of two finished or running runs.
struct RunPayOff {
    Message sentence;  ///< empty: not known, or the runs are not FP32 and a 16-bit precision
    /// Whether the sentence has the reason. Otherwise the runs have recorded too little for it, and
    /// measure_pay_off() (engine/instruments/pay_off.h) finds it.
    bool explained = true;
    Message evidence;  ///< the times of the steps' parts; empty if not recorded
};

/// Compares the times of the parts of a step (data, forward, backward, optimizer) over the steps
/// that both speeds cover. A precision pays if equal speed is below the 95 % interval of the ratio
/// and the ratio is 1.05 or more. Reads a bounded number of rows.
RunPayOff run_pay_off(const RunFigures& baseline, const RunFigures& other);

}  // namespace engine
