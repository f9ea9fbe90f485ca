#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/record/twin.h"
#include "engine/settings/run_config.h"

namespace engine {

class Communicator;
class WeightWatch;

/// Choices for a learning-rate schedule that falls to its end (cosine, one-cycle, polynomial) when
/// the run gets more steps.
enum class LongerSchedule {
    ask,       ///< Error(settings) with both rates
    constant,  ///< the last rate for the added steps
    cycle,     ///< the schedule anew over the added steps
    stretch,   ///< one schedule over all steps
};

/// The point from which a run continues (resume.h plans it).
struct Continuation {
    std::filesystem::path run_folder;
    std::filesystem::path checkpoint;  ///< of that run; empty: from its start
    bool in_place = true;              ///< else in a new run, whose parent it is
    /// Newer checkpoints that cannot be read: they are moved aside when the run goes on in place.
    std::vector<std::filesystem::path> damaged{};
    LongerSchedule schedule = LongerSchedule::ask;
};

/// The purpose for which a run's data set is opened again. Evaluating uses changed data with a
/// note; the others need the same bits and refuse changed data.
enum class DataUse {
    evaluate,
    replay,  ///< a step is computed again
    go_on,   ///< the run continues
    sweep,   ///< a sweep continues with another run
};

/// How the data of a run that was to go on have changed, if that can be accepted.
enum class DataChanged {
    no,
    contents,
    samples,  ///< their number too: the run goes on as a new one
};

struct SessionOptions {
    std::filesystem::path folder;                ///< run folder; empty: a new one in the store
    bool evaluate = true;                        ///< the test set after each epoch
    std::optional<Continuation> continuation{};  ///< none: the run begins
    bool save_checkpoints = true;                ///< as the settings say
    /// A full disk pauses the run, to go on when there is room; otherwise it fails.
    bool pause_when_disk_full = false;
    /// Write the loss and the unscaled gradients of the first step to this safetensors file.
    std::filesystem::path dump_gradients;
    std::string group = {};        ///< RunSummary::group of a new run
    std::string group_plan = {};   ///< group_plan_json() of that group, kept with a new run
    /// A new_run_group() that the sessions of one thread share which are started together, so that
    /// they train in turns (RunStarted::turns). Empty: the session trains alone.
    std::string turns = {};
    std::shared_ptr<Twin> twin{};  ///< in lockstep with another session on the same thread
    Twin::Side twin_side = Twin::Side::reference;
    std::vector<std::shared_ptr<WeightWatch>> weights{};  ///< single weights to follow
    /// A run whose data set this one must find as it was (DataUse). Empty: that of the
    /// continuation.
    std::filesystem::path data_of{};
    DataUse data_use = DataUse::go_on;
    bool accept_data = false;  ///< go on although the data have changed, where that is possible
    /// Joins the ranks of a data-parallel run, whose rank 0 has the session; null: one process.
    std::shared_ptr<Communicator> communicator{};
};

/// Checks, without opening data, whether this machine can run the settings. Throws Error(device) if
/// it lacks the device, or if the device lacks the precision.
void check_device(const RunConfig& config);

}  // namespace engine
