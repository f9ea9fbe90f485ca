#include "engine/lab/lesson_draft.h"

#include "engine/runs/run_fields.h"

namespace engine {
namespace {

/// Settings that a lesson has of its own or may not name.
bool is_kept(const std::string& field) {
    return field != "seed" && field != "dataset.path" && field != "dataset.order" &&
           field != "model.init_from" && field != "model.init_key" && field != "model.new_head" &&
           !field.starts_with("checkpoint.");
}

std::string written_setting(const RunSummary& run, const std::string& field) {
    std::string value = setting_text(run.config, field);
    std::string out;
    for (const char c : value)
        if (c != ' ' && c != '\n') out += c;
    if (out.size() >= 2 && out.front() == '"' && out.back() == '"')
        out = out.substr(1, out.size() - 2);
    return field + "=" + out;
}

}  // namespace

std::string draft_lesson(const RunSummary& run, std::int64_t step, const std::string& title) {
    std::string settings;
    for (const RunDifference& each : changed_settings(run))
        if (is_kept(each.field)) settings += "\nall: " + written_setting(run, each.field);
    const bool files = !run.config.dataset.path.empty();
    std::string out = "---\ntitle: " + title + "\nchapter: My lessons\nminutes: 5\n---\n";
    out += "## Read\nWhat should a learner know before the run starts? The draft was made of run " +
           run.run + " (seed " + std::to_string(run.config.seed) + ").\n";
    if (files)
        out +=
            "\nIts data are files: copy them beside this lesson and add all: dataset.path=FILE to "
            "the runs.\n";
    out += "\n## Predict\n```predict loss\nWhat will the loss be at step " + std::to_string(step) +
           "?\nnumber: loss\nhint: Look at how fast it falls at first.\n```\n";
    out += "\n## Run\n```runs" + settings + "\nall: max_steps=" + std::to_string(step) +
           "\nrun \"" + title + "\": seed=" + std::to_string(run.config.seed) +
           "\npace: 50 steps/s\n```\n";
    out += "```plot\nloss\nloss_scale log\n```\n";
    out += "\n## Check\n```check\nloss = last(run.loss)\n```\n";
    out += "\n## Why\nExplain what was seen.\n";
    return out;
}

}  // namespace engine
