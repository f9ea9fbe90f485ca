#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/message.h"
#include "engine/record/event.h"
#include "engine/record/speed.h"
#include "engine/record/step_record.h"

namespace engine {

/// A run's figures as a verdict needs them.
struct RunFigures {
    std::string precision;  ///< preset
    StepRecordReader record;
    std::vector<TestResult> tests;  ///< in the order of their steps
    double seed_noise = 0;    ///< spread of the test part's metric over seeds; 0: only one seed ran
    Speed speed = {};         ///< measured over the same steps as the other run's
    std::string title = {};   ///< what the verdict calls it; empty: the precision's title
    std::string device = {};  ///< "cpu", "cuda:0"
    bool ended = false;
    /// The task's primary metric; an empty key: it has none, and verdicts use the loss alone.
    Metric metric = classification_metrics().front();
    std::string unit = "samples";  ///< what one sample is called
    std::string task = {};         ///< kind; empty: unknown, and taken to be that of the other run
    std::string data = {};         ///< what the data set is called; empty: unknown
    std::string data_settings = {};  ///< equal for equal data; empty: unknown
    std::string turns = {};          ///< RunStarted::turns
    std::int64_t in_turns_from = 1;  ///< the first step since which `turns` holds
    /// The first step that is judged, such as the one after a twin's resync. The evaluations in
    /// `tests` must not be older.
    std::int64_t first_step = 1;
};

/// Figures of a run that a verdict needs besides its record, its evaluations and its speed.
RunFigures figures_of(const RunStarted& started);

/// Collects what a verdict needs from a run's events, one after another: how it was started last,
/// and the evaluations from `first_step` on.
class JudgedEvents {
public:
    explicit JudgedEvents(std::int64_t first_step = 1) : first_step_(first_step) {}

    void apply(const Event& event);
    RunFigures figures(const StepRecordReader& record) const;

private:
    RunFigures started_;
    std::int64_t first_step_;
    std::vector<TestResult> tests_;
    bool ended_ = false;
};

enum class VerdictTone { neutral, good, caution, bad };
template <>
inline constexpr std::array enum_names<VerdictTone> = {"neutral", "good", "caution", "bad"};

/// One sentence on two runs, and what it rests on.
struct Verdict {
    VerdictTone tone = VerdictTone::neutral;
    Message headline;                    ///< "No measurable difference."
    std::vector<Message> cost = {};      ///< parts of a sentence: "16 % slower", "38 % less memory"
    std::vector<Message> evidence = {};  ///< sentences: how far apart, how noisy, how fast
    /// Whether the second run's precision pays compared with FP32 and why, and a sentence of
    /// evidence. Empty if unknown, or if the runs are not FP32 and another precision.
    Message speedup = {};
    /// Whether `speedup` has the reason. Otherwise the runs have recorded too little for it, and
    /// measure_speedup() finds it.
    bool speedup_explained = true;

    /// The cost as a sentence, then the evidence, in English; empty if there is neither.
    std::string details() const;
};

/// A verdict on two runs of the same settings in two precisions, the first the baseline. Claims no
/// more than the numbers bear: "too early to say" before the first evaluation of both, unless a
/// loss has stopped being a number. A difference counts if it exceeds twice the noise of a
/// difference: over seeds where several ran, else over steps. Speeds differ only if equal speed
/// lies outside the 95 % interval of their ratio over blocks of steps, and only if both runs took
/// turns in these steps. Runs of different tasks are not compared; different data and numbers of
/// steps are named. Reads a bounded number of rows, however long the runs are.
Verdict judge(const RunFigures& baseline, const RunFigures& other);

}  // namespace engine
