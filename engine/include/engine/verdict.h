#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/message.h"
#include "engine/step_record.h"

namespace engine {

/// A run's figures as a verdict needs them.
struct RunFigures {
    std::string precision;  ///< preset
    StepRecordReader record;
    std::vector<double> test_losses;  ///< one an evaluation
    std::vector<double> test_accuracies;
    double seed_noise = 0;  ///< spread of test accuracy over seeds; 0: only one seed ran
};

enum class VerdictTone { neutral, good, caution, bad };

struct Verdict {
    VerdictTone tone = VerdictTone::neutral;
    Message headline;  ///< "Same result so far."
    Message evidence;  ///< "Losses {} apart, noise over steps {}. AMP is {}x as fast in {}x the
                       ///< memory."
};

/// One sentence on two runs of the same settings in two precisions, the first the baseline. Claims
/// no more than the numbers bear: "too early to say" before the first evaluation of both, unless a
/// loss has stopped being a number. A difference counts if it exceeds twice the noise of a
/// difference: over seeds where several ran, else over steps. Reads a bounded number of rows,
/// however long the runs are.
Verdict judge(const RunFigures& baseline, const RunFigures& other);

}  // namespace engine
