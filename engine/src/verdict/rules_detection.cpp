#include "engine/settings/catalog.h"
#include "models/model_descriptor.h"
#include "verdict/rules.h"

namespace engine {
namespace {

/// The settings of a detector that the rules look at.
struct DetectorFacts {
    bool frozen_norm = false, from_weights = false;
    std::int64_t warmup = -1;  ///< -1: the schedule has none
    double batch = 0;          ///< pictures of an update
};

DetectorFacts detector_facts(const RunConfig& config, const ModelDescriptor& model) {
    DetectorFacts out;
    out.frozen_norm =
        TypedOptions(config.model.options, model.options).word("norm") == std::string_view("frozen");
    out.from_weights = !config.model.init_from.empty();
    const ScheduleDescriptor* schedule = find_kind(schedules(), config.schedule.kind);
    if (schedule != nullptr && find_option(schedule->options, "warmup_steps") != nullptr)
        out.warmup =
            TypedOptions(config.schedule.options, schedule->options).integer("warmup_steps");
    out.batch = static_cast<double>(config.batch_size * config.accumulate);
    return out;
}

void random_frozen_norm(const DetectorFacts& facts, Findings& out) {
    if (!facts.frozen_norm || facts.from_weights) return;
    out.push_back({.id = "frozen-norm-of-random-weights",
                   .severity = LintSeverity::warning,
                   .sentence = msg("Frozen batch norm without weights to start from"),
                   .reason = msg("Frozen norms have the statistics of trained weights. With random "
                                 "ones the activations grow from layer to layer, and the first "
                                 "losses are far too large."),
                   .handbook = "Detectors need careful first steps",
                   .fix = {"model.options.norm=batch"}});
}

void frozen_without_warmup(const DetectorFacts& facts, Findings& out) {
    if (!facts.frozen_norm || facts.warmup != 0) return;
    out.push_back({.id = "detector-without-warmup",
                   .severity = LintSeverity::note,
                   .sentence = msg("A detector with frozen batch norm and no warm-up"),
                   .reason = msg("Its new heads have large gradients at first, and no norm limits "
                                 "what they do to the body. torchvision warms up over 1,000 "
                                 "updates."),
                   .handbook = "Detectors need careful first steps",
                   .fix = {"schedule.warmup_steps=500"}});
}

/// 0.02 for 16 pictures is the usual rate, and twice as much still trains.
void high_detector_rate(const LintSubject& s, const DetectorFacts& facts, Findings& out) {
    constexpr double highest = 0.04, usual = 0.02, pictures = 16;
    const double rate = learning_rate_of(s.config).given;
    // The optimizer of new settings is SGD.
    if (s.config.optimizer.kind != RunConfig().optimizer.kind ||
        rate <= highest * facts.batch / pictures)
        return;
    out.push_back({.id = "detector-rate-too-high",
                   .severity = LintSeverity::warning,
                   .sentence = msg("A learning rate of {} for {} pictures an update", rate,
                                   facts.batch),
                   .reason = msg("Detectors are trained with SGD at 0.02 for 16 pictures, and in "
                                 "proportion. Above twice that they often diverge."),
                   .handbook = "Detectors need careful first steps",
                   .fix = {"optimizer.lr=" + number_words(usual * facts.batch / pictures)}});
}

void norm_of_one_picture(const LintSubject& s, const DetectorFacts& facts, Findings& out) {
    if (facts.frozen_norm || s.config.batch_size > 1) return;
    out.push_back({.id = "batch-norm-of-one-picture",
                   .severity = LintSeverity::warning,
                   .sentence = msg("Batch norm over a single picture"),
                   .reason = msg("The statistics of one picture differ much from those that an "
                                 "evaluation uses."),
                   .handbook = "Detectors need careful first steps",
                   .fix = {"batch_size=2"}});
}

}  // namespace

void lint_detection(const LintSubject& subject, Findings& out) {
    const auto model = model_descriptor(subject.config.model);
    if (model->output != ModelOutput::detections) return;
    const DetectorFacts facts = detector_facts(subject.config, *model);
    random_frozen_norm(facts, out);
    frozen_without_warmup(facts, out);
    high_detector_rate(subject, facts, out);
    norm_of_one_picture(subject, facts, out);
}

}  // namespace engine
