#include "report/report_tables.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "engine/base/json.h"
#include "engine/base/table.h"
#include "engine/number/figure_text.h"
#include "engine/record/scale_outlook.h"
#include "engine/settings/catalog.h"
#include "record/event_json.h"
#include "runs/event_file.h"

namespace engine {
namespace {

constexpr std::size_t max_lines = 200;  ///< of the evaluations of all runs

Message left_out_note(std::int64_t left_out) {
    return left_out > 0 ? msg("{} more are not listed.", left_out) : Message();
}

Message what_happened(const ScaleChanged& event) {
    if (event.loss)
        return msg("The loss is {}; step skipped, scale {} to {}.",
                   figure_text(static_cast<double>(*event.loss)), power_text(event.from),
                   power_text(event.to));
    return msg("A gradient overflowed; step skipped, scale {} to {}.", power_text(event.from),
               power_text(event.to));
}

Message what_it_means(const ScaleChanged& event) {
    switch (event.kind) {
        case ScaleChanged::Kind::skipped_calibrating:
            if (const std::int64_t more = skips_to_usual_scale(event); more > 0)
                return msg(
                    "Calibrating: the scale was still too large. More skips until it is {}, "
                    "the default: about {}.",
                    power_value_text(static_cast<double>(usual_loss_scale)), more);
            return msg("Calibrating: the scaler is still looking for a scale that fits.");
        case ScaleChanged::Kind::skipped_normal:
            return msg("Normal: the scale had grown past the largest safe one.");
        case ScaleChanged::Kind::skipped_persistent:
            if (!event.loss)
                return msg(
                    "Persistent: the gradients are not finite even at scale {}, so look for "
                    "a NaN in the backward pass.",
                    power_text(event.from));
            return msg("Persistent: lowering the scale cannot fix a NaN in the forward pass.");
        case ScaleChanged::Kind::grown:
            break;
    }
    return {};
}

/// A run of another program has only the settings that say how numbers are kept.
bool has(const RunSummary& run, const std::string& path) {
    return !run.origin || path.starts_with("precision.") || path.starts_with("scaler.");
}

std::set<std::string> differing_paths(const std::vector<RunSummary>& runs) {
    std::set<std::string> out;
    for (auto first = runs.begin(); first != runs.end(); ++first) {
        for (auto second = first + 1; second != runs.end(); ++second) {
            for (auto& path : differing_fields(first->config, second->config)) {
                if (has(*first, path) && has(*second, path))
                    out.insert(std::move(path));
            }
        }
    }
    return out;
}

/// A value as its setting's title has it, without the quotes of JSON.
Message value_title(const RunConfig& config, const std::string& path) {
    const std::string text = setting_text(config, path);
    if (text.empty()) {
        const FieldInfo* info = find_field(path);
        return info != nullptr && info->optional ? msg("from the preset") : Message("–");
    }
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return quoted ? choice_title(path, text.substr(1, text.size() - 2)) : text;
}

}  // namespace

std::string number_or_dash(const char* format, double value) {
    return std::isnan(value) ? "–" : number_text(format, value);
}

std::string metric_words(const Metric& metric) {
    std::string words = metric.title.empty() ? metric.key : metric.title;
    const auto small = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
    if (words.size() > 1 && small(words[1]))
        words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
    return words;
}

std::string metric_text(const Metric& metric, double value) {
    const bool share = metric.is_share && std::isfinite(value);
    return share ? number_or_dash("%.4g %%", 100 * value) : number_or_dash("%.4g", value);
}

ReportedEvents::ReportedEvents(const std::filesystem::path& run_folder) {
    EventFile(run_folder).for_each([this](Event&& event) { add(event); });
}

void ReportedEvents::add(const Event& event) {
    figures_.apply(event);
    judged_.apply(event);
    if (const auto* started = std::get_if<RunStarted>(&event)) started_ = *started;
    if (const auto* epoch = std::get_if<EpochDone>(&event)) epochs_.add(*epoch);
    if (const auto* warning = std::get_if<RunWarning>(&event))
        problems_.add({warning->step, warning->message});
    if (const auto* alarm = std::get_if<ScaleAlarm>(&event))
        problems_.add({alarm->step, alarm->hint});
    if (const auto* failed = std::get_if<RunFailed>(&event)) problems_.add({0, failed->message});
    const auto* scale = std::get_if<ScaleChanged>(&event);
    if (scale == nullptr || scale->kind == ScaleChanged::Kind::grown) return;
    skipped_.push_back(scale->step);
    skips_.add(*scale);
}

ReportTable skip_table(const std::string& name, const ReportedEvents& events) {
    ReportTable out{msg("Skipped steps: {}", name), {}};
    const auto& skips = events.skips();
    if (skips.first.empty()) return out;
    out.rows.push_back({msg("Step"), msg("What happened"), msg("What it means")});
    for (const ScaleChanged& scale : skips.first)
        out.rows.push_back(
            {std::to_string(scale.step), what_happened(scale), what_it_means(scale)});
    out.note = left_out_note(skips.left_out);
    return out;
}

ReportTable problem_table(const std::string& name, const ReportedEvents& events) {
    ReportTable out{msg("Warnings and errors: {}", name), {}};
    const auto& problems = events.problems();
    if (problems.first.empty()) return out;
    out.rows.push_back({msg("Step"), msg("What happened")});
    for (const auto& problem : problems.first)
        out.rows.push_back(
            {problem.step > 0 ? std::to_string(problem.step) : "", problem.message});
    out.note = left_out_note(problems.left_out);
    return out;
}

ReportTable epoch_table(const std::vector<NamedEvents>& runs) {
    ReportTable out{msg("Evaluations"), {}};
    std::int64_t left_out = 0;
    std::size_t lines = max_lines, runs_left = runs.size();
    for (const NamedEvents& run : runs) {
        const std::vector<EpochDone> listed = run.events->epochs().list(lines / runs_left--);
        lines -= listed.size();
        left_out += static_cast<std::int64_t>(run.events->epochs().made() - listed.size());
        for (const EpochDone& epoch : listed) {
            if (out.rows.empty()) {
                out.rows.push_back({msg("Run"), msg("Epoch"), msg("Step"), msg("Training loss"),
                                    msg("Validation loss"), msg("Test loss"),
                                    run.metric.key.empty()
                                        ? Message()
                                        : msg("Test {}", metric_words(run.metric))});
            }
            out.rows.push_back(
                {run.name, std::to_string(epoch.epoch), std::to_string(epoch.step),
                 number_or_dash("%.4g", epoch.train.loss),
                 number_or_dash("%.4g", epoch.validation.loss),
                 number_or_dash("%.4g", epoch.test.loss),
                 run.metric.key.empty()
                     ? ""
                     : metric_text(run.metric, epoch.test.of(run.metric.key))});
        }
    }
    out.note = left_out_note(left_out);
    return out;
}

std::string choice_title(std::string_view path, const std::string& word) {
    const FieldInfo* info = find_field(path);
    if (info == nullptr) return word;
    const auto found = std::ranges::find(info->choices, word, &FieldChoice::value);
    return found == info->choices.end() || found->title.empty() ? word : found->title;
}

std::string shown_settings(const RunSummary& run) {
    if (!run.origin) return to_json(run.config);
    nlohmann::ordered_json told = *run.origin;
    const nlohmann::ordered_json shared = settings_json(run.config, true);
    for (const auto& [name, value] : shared.items()) told[name] = value;
    return dumped(told, 2);
}

ReportTable difference_table(const std::vector<RunSummary>& runs,
                             const std::vector<Report::Settings>& settings) {
    const auto paths = differing_paths(runs);
    if (paths.empty()) return {};
    ReportTable out{msg("Settings that differ"), {}};
    std::vector<Message>& head = out.rows.emplace_back(std::vector<Message>{msg("Setting")});
    for (const auto& run : settings) head.emplace_back(run.name);
    for (const std::string& path : paths) {
        const FieldInfo* info = find_field(path);
        const std::string title = info != nullptr && !info->label.empty() ? info->label : path;
        std::vector<Message>& row = out.rows.emplace_back(std::vector<Message>{title});
        for (const RunSummary& run : runs)
            row.push_back(has(run, path) ? value_title(run.config, path) : Message("–"));
    }
    return out;
}

}  // namespace engine
