#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/network/network.h"
#include "engine/record/step_record.h"
#include "engine/settings/catalog.h"
#include "lab/lesson_text.h"
#include "settings/config_fields.h"

namespace engine {
namespace {

/// Whether a path that settings name stays in the lesson's folder, links followed.
bool is_inside(const Lesson& lesson, const std::filesystem::path& path) {
    if (lesson.folder.empty() || path.is_absolute()) return false;
    if (std::ranges::any_of(path, [](const auto& part) { return part == ".."; })) return false;
    std::error_code error;
    const auto folder = std::filesystem::weakly_canonical(lesson.folder, error);
    const auto whole = std::filesystem::weakly_canonical(lesson.folder / path, error);
    return !error && std::ranges::mismatch(folder, whole).in1 == folder.end();
}

/// NAME "label": settings
LessonRun read_run(const LessonLine& line, const std::vector<std::string>& shared) {
    const auto refuse = [&](const Message& text) { throw LessonError{line.number, text}; };
    LessonRun run{.line = line.number};
    std::string_view rest = stripped(line.text);
    const std::size_t end = rest.find_first_of(" \t\":");
    run.name = rest.substr(0, end);
    if (!is_lesson_name(run.name))
        refuse(msg("“{}” cannot be the name of a run: use letters, digits and _.", run.name));
    rest = end == std::string_view::npos ? "" : stripped(rest.substr(end));
    if (rest.starts_with('"')) {
        const std::size_t close = rest.find('"', 1);
        if (close == std::string_view::npos)
            refuse(msg("The label has no closing quotation mark."));
        run.label = rest.substr(1, close - 1);
        rest = stripped(rest.substr(close + 1));
    }
    if (run.label.empty()) run.label = run.name;
    if (!rest.starts_with(':')) refuse(msg("A run is written NAME \"label\": path=value ..."));
    run.settings = shared;
    const auto words = split_words(rest.substr(1));
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "resume:") {
            const auto step = i + 3 < words.size() ? number_in(words[i + 3]) : std::nullopt;
            if (!step || words[i + 2] != "at" || *step < 1 || *step > 1e9)
                refuse(msg("A run continues another one with “resume: RUN at STEP”."));
            run.resume = {words[i + 1], static_cast<std::int64_t>(*step)};
            i += 3;
        } else if (words[i].find('=') == std::string::npos) {
            refuse(msg("“{}” is not a setting: use path=value.", words[i]));
        } else {
            run.settings.push_back(words[i]);
        }
    }
    return run;
}

/// Refuses a network that does not fit the run's data, where the settings alone say their sizes.
void check_network_of_run(const Lesson& lesson, const LessonRun& run, const RunConfig& config) {
    if (lesson.network.empty() || find_dataset(config.dataset.kind)->files_decide) return;
    std::string text;
    for (const std::string& line : lesson.network) text += line + '\n';
    for (const NetworkFault& fault : check_network(text, network_data(config)).faults)
        if (!fault.note)
            throw LessonError{run.line, msg("The run {} cannot start: line {} of the network: {}", run.name, fault.place.line, fault.text.str())};
}

void check_settings(const Lesson& lesson, const LessonRun& run) {
    const ParsedConfig parsed = lesson_settings(lesson, run, 1);
    if (!parsed.errors.empty())
        throw LessonError{
            run.line, msg("The run {} cannot start: {}", run.name, parsed.errors.front().str())};
    check_network_of_run(lesson, run, parsed.config);
}

double pace_in(const LessonLine& line, const std::string& value) {
    const auto words = split_words(value);
    const auto pace = words.empty() ? std::nullopt : number_in(words[0]);
    if (!pace || !(*pace > 0) || words.size() > 2 || (words.size() == 2 && words[1] != "steps/s"))
        throw LessonError{line.number, msg("The pace is a number such as “250 steps/s”.")};
    return *pace;
}

void check_resumes(const std::vector<LessonRun>& runs) {
    for (const LessonRun& run : runs) {
        if (!run.resume) continue;
        const auto at = std::ranges::find(runs, run.resume->run, &LessonRun::name);
        if (at == runs.end() || at->resume)
            throw LessonError{
                run.line,
                msg("{} cannot continue {}: name a run of the lesson that does not itself resume.",
                    run.name, run.resume->run)};
    }
}

}  // namespace

LessonRuns read_runs(const RawBlock& block, const Lesson& lesson) {
    if (!lesson.runs.empty()) throw LessonError{block.line, msg("A lesson has one block of runs.")};
    LessonRuns out;
    std::vector<std::string> shared;
    for (const LessonLine& line : block.lines) {
        if (stripped(line.text).empty()) continue;
        const auto pair = split_at_colon(line.text);
        if (pair && pair->first == "all") {
            if (!out.runs.empty())
                throw LessonError{line.number, msg("“all:” must come before the runs.")};
            for (const auto& word : split_words(pair->second)) {
                if (word.find('=') == std::string::npos)
                    throw LessonError{line.number,
                                      msg("“{}” is not a setting: use path=value.", word)};
                shared.push_back(word);
            }
        } else if (pair && pair->first == "pace") {
            out.pace = pace_in(line, pair->second);
        } else {
            out.runs.push_back(read_run(line, shared));
            const auto& name = out.runs.back().name;
            if (std::ranges::count(out.runs, name, &LessonRun::name) > 1)
                throw LessonError{line.number, msg("Two runs are called {}.", name)};
        }
    }
    constexpr std::size_t max_runs = 8;
    if (out.runs.empty() || out.runs.size() > max_runs)
        throw LessonError{block.line, msg("A lesson has 1 to {} runs.", max_runs)};
    for (const LessonRun& run : out.runs) check_settings(lesson, run);
    check_resumes(out.runs);
    return out;
}

bool knob_applies(const Lesson& lesson, const LessonRun& run, const std::string& path) {
    const auto names = [&](const LessonRun& each) {
        return std::ranges::any_of(each.settings, [&](const std::string& setting) {
            return setting.starts_with(path + "=");
        });
    };
    return names(run) || std::ranges::none_of(lesson.runs, names);
}

ParsedConfig lesson_settings(const Lesson& lesson, const LessonRun& run, std::int64_t seed,
                             const std::vector<std::string>& knobs) {
    // A lesson's runs are thrown away: what they would save is asked for where it is needed.
    std::vector<std::string> overrides = {"checkpoint.every_minutes=0", "checkpoint.best=false",
                                          "checkpoint.at_end=false"};
    if (!lesson.network.empty())
        overrides.push_back("model.network=" + nlohmann::json(lesson.network).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    overrides.insert(overrides.end(), run.settings.begin(), run.settings.end());
    for (const std::string& knob : knobs)
        if (knob_applies(lesson, run, knob.substr(0, knob.find('=')))) overrides.push_back(knob);
    overrides.push_back("seed=" + std::to_string(seed));
    // Reading settings reads the file.
    const auto names_network = [](const std::string& each) { return each.starts_with("model.path="); };
    const bool names_one = std::erase_if(overrides, names_network) > 0;
    ParsedConfig parsed = parse_run_config("{}", overrides);
    if (names_one)
        parsed.errors.insert(parsed.errors.begin(), {"model.path", "", msg("write the network into a block “network”")});
    const auto place = [&](const char* field, std::string& path) {
        if (path.empty()) return;
        if (is_inside(lesson, path))
            path = (lesson.folder / path).string();
        else
            parsed.errors.push_back({field, path, msg("name a file in the lesson's folder")});
    };
    for (auto& path : parsed.config.dataset.path) place("dataset.path", path);
    place("dataset.order", parsed.config.dataset.order);
    for_each_file_option(parsed.config.dataset, [&](const std::string& name, std::string& path) {
        place(("dataset." + name).c_str(), path);
    });
    place("model.init_from", parsed.config.model.init_from);
    return parsed;
}

std::vector<std::string> lesson_columns(const Lesson& lesson) {
    std::vector<std::string> out;
    for_each_field([&](std::string_view name, auto) {
        if (!name.starts_with("metric_")) out.emplace_back(name);
    });
    for (const LessonRun& run : lesson.runs)
        for (const Metric& metric : metrics_of(lesson_settings(lesson, run, 1).config))
            if (std::ranges::find(out, metric.key) == out.end()) out.push_back(metric.key);
    return out;
}

void require_run(const Lesson& lesson, const std::string& name, int line) {
    if (!find_run(lesson, name)) throw LessonError{line, msg("No run is called {}.", name)};
}

void require_column(const Lesson& lesson, const std::string& column, int line) {
    const auto columns = lesson_columns(lesson);
    if (std::ranges::find(columns, column) == columns.end())
        throw LessonError{line, msg("The record has no column {}.", column)};
}

}  // namespace engine
