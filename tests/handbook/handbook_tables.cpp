// handbook_tables settings|commands|layers|events|figures|columns: prints that page of resources/handbook,
// or the record's columns for resources/python, as the program defines them. check_tables.sh
// compares the files with it.
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/network/network.h"
#include "engine/record/event.h"
#include "engine/record/step_record.h"
#include "engine/settings/catalog.h"
#include "engine/settings/run_config.h"
#include "support/figure_infos.h"

namespace {

using engine::FieldInfo;

std::string quoted(const std::string& text) { return "`" + text + "`"; }

std::string joined(const std::vector<std::string>& parts, const char* between) {
    std::string out;
    for (const auto& part : parts) out += (out.empty() ? "" : between) + part;
    return out;
}

/// A bar would end the cell, and "<unk>" would be taken for HTML.
std::string cell(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '|' ? "\\|" : c == '<' ? "&lt;" : std::string(1, c);
    return out;
}

void print_row(const std::vector<std::string>& cells) {
    std::printf("|");
    for (const auto& each : cells) std::printf(" %s |", cell(each).c_str());
    std::printf("\n");
}

void print_head(const std::vector<std::string>& names) {
    print_row(names);
    print_row(std::vector<std::string>(names.size(), "---"));
}

void print_title(const char* title, const char* page, const char* text) {
    std::printf(
        "# %s\n\n%s\n\nThis page is generated: after a change run "
        "`build/dev/tests/handbook/handbook_tables %s > resources/handbook/%s.md`.\n",
        title, text, page, page);
}

std::string section_of(const std::string& path) {
    const auto dot = path.find('.');
    return dot == std::string::npos ? "" : path.substr(0, dot);
}

/// Without the quotes of a JSON text that is not empty; "" for none. `kind`: chosen in the field's
/// section, or "".
std::string default_of(const FieldInfo& field, const std::string& kind) {
    std::vector<std::string> overrides;
    if (!kind.empty()) overrides.push_back(section_of(field.path) + ".kind=" + kind);
    const auto parsed = engine::parse_run_config("{}", overrides);
    const std::string text = engine::setting_text(engine::completed(parsed.config), field.path);
    const bool is_text = text.size() > 2 && text.front() == '"';
    return is_text ? text.substr(1, text.size() - 2) : text;
}

/// "`0.01`", or "`0.9` (adam, adamw), `0.95` (novograd)" where kinds differ.
std::string defaults_of(const FieldInfo& field) {
    std::vector<std::pair<std::string, std::vector<std::string>>> values;
    const auto kinds = field.kinds.empty() ? std::vector<std::string>{""} : field.kinds;
    for (const auto& kind : kinds) {
        const std::string value = default_of(field, kind);
        const auto found = std::ranges::find(values, value, [](const auto& v) { return v.first; });
        if (found == values.end())
            values.push_back({value, {kind}});
        else
            found->second.push_back(kind);
    }
    std::vector<std::string> parts;
    for (const auto& [value, of] : values) {
        const std::string text = !value.empty()   ? quoted(value)
                                 : field.optional ? "from the preset"
                                                  : "–";
        parts.push_back(values.size() == 1 ? text : text + " (" + joined(of, ", ") + ")");
    }
    return joined(parts, ", ");
}

std::string values_of(const FieldInfo& field) {
    std::vector<std::string> values;
    for (const auto& choice : field.choices)
        values.push_back(quoted(choice.value.empty() ? "\"\"" : choice.value));
    return joined(values, ", ");
}

std::string text_of(const FieldInfo& field) {
    std::string out = field.label + (field.unit.empty() ? "" : " (" + field.unit + ")") + ".";
    if (!field.help.empty()) out += " " + field.help;
    if (!field.needs.empty()) out += " Needs " + quoted(field.needs) + ".";
    return out;
}

/// The text, and the kinds that it is for; each text where kinds describe the field differently.
std::string meaning_of(const FieldInfo& field) {
    if (field.kinds.empty()) return text_of(field);
    std::vector<std::pair<std::string, std::vector<std::string>>> texts;
    for (const auto& kind : field.kinds) {
        const FieldInfo* own = engine::find_field(field.path, kind);
        const std::string text = text_of(own != nullptr ? *own : field);
        const auto found = std::ranges::find(texts, text, [](const auto& t) { return t.first; });
        if (found == texts.end())
            texts.push_back({text, {kind}});
        else
            found->second.push_back(kind);
    }
    std::vector<std::string> parts;
    for (const auto& [text, of] : texts) parts.push_back(text + " For " + joined(of, ", ") + ".");
    return joined(parts, " ");
}

void print_settings() {
    print_title("Settings", "settings",
                "Every setting of a run, with its default. [Interfaces](interfaces.md#1-settings) "
                "says how settings are read. A value that is not listed is any text or number; "
                "validation names its range.");
    std::vector<std::string> sections;
    for (const auto& field : engine::fields()) {
        const std::string section = section_of(field.path);
        if (std::ranges::find(sections, section) == sections.end()) sections.push_back(section);
    }
    for (const auto& section : sections) {
        std::printf("\n## %s\n\n", section.empty() ? "Run" : section.c_str());
        print_head({"setting", "default", "values", "meaning"});
        for (const auto& field : engine::fields())
            if (section_of(field.path) == section)
                print_row(
                    {quoted(field.path), defaults_of(field), values_of(field), meaning_of(field)});
    }
}

void print_commands() {
    print_title("Commands", "commands",
                "What `halftone` can do; `halftone COMMAND --help` or `halftone help COMMAND` lists the options of one. "
                "[Interfaces](interfaces.md#2-commands) has the exit codes. Without a command the "
                "window opens.");
    std::printf("\n");
    print_head({"command", "does"});
    const auto print = [](std::string name, const char* summary) {
        std::ranges::replace(name, '_', '-');
        print_row({quoted("halftone " + name), std::string(summary) + "."});
    };
#define HALFTONE_COMMAND(name, summary) print(#name, summary);
#include "commands.inc"
#undef HALFTONE_COMMAND
}

void print_layers() {
    print_title("Layers of a network", "layers",
                "The kinds of layers of [a network that you write](write-a-network.md). Arguments before the semicolon may "
                "come without a name, those in brackets may be left out; behind it they come by name, with their defaults.");
    std::printf("\n");
    print_head({"layer", "does"});
    for (const auto& kind : engine::network_layer_kinds()) print_row({quoted(kind.form), kind.help});
}

/// With a value in every field, so that no field is left out.
std::vector<engine::Event> examples() {
    const engine::PartFigures part{.loss = 1, .metrics = {{"accuracy", 0.5}}};
    engine::Message message("{}");
    message.args = {"1"};
    engine::RunConfig broken;  // so that `teach` is there
    broken.teach.clip_before_unscale = true;
    broken.clip.kind = engine::ClipKind::norm;
    broken.precision.preset = "amp-fp16";
    return {
        engine::RunStarted{.run = "1",
                           .config = broken,
                           .device = "cpu",
                           .threads = 1,
                           .parameters = 1,
                           .train_samples = 1,
                           .test_samples = 1,
                           .steps_planned = 1,
                           .folder = "1",
                           .validation_samples = 1,
                           .origin = engine::RunOrigin{.program = "PyTorch"},
                           .turns = "1",
                           .first_step = 2,
                           .steps_per_epoch = 1},
        engine::RunResumed{
            .run = "1", .step = 1, .skipped = 1, .parent = "1", .restored = {message}},
        engine::StateChanged{.run = "1", .state = engine::RunState::training},
        engine::EpochDone{.run = "1",
                          .epoch = 1,
                          .step = 1,
                          .train = part,
                          .validation = part,
                          .test = part,
                          .seconds = 1,
                          .epoch_ended = false,
                          .evaluated = false},
        engine::ScaleChanged{.run = "1",
                             .step = 1,
                             .kind = engine::ScaleChanged::Kind::grown,
                             .from = 1,
                             .to = 2,
                             .clean_steps = 1,
                             .loss = 1.f},
        engine::CheckpointSaved{.run = "1", .step = 1, .bytes = 1, .seconds = 1, .best = true},
        engine::StepExamined{
            .run = "1", .step = 1, .cause = "overflow", .verdict = message, .damaged_at = 1},
        engine::RecipeStarted{.run = "1",
                              .step = 1,
                              .recipe = "mxfp8",
                              .settings = {{"block", "32"}},
                              .products = {{.module = "fc1"}},
                              .quantised = 1,
                              .kept = 1},
        engine::ScaleAlarm{.run = "1",
                           .step = 1,
                           .module = "fc1",
                           .role = "g",
                           .kind = engine::ScaleAlarm::Kind::zeroed,
                           .value = 0.5,
                           .hint = message},
        engine::RunWarning{.run = "1", .message = message, .step = 1},
        engine::RunFailed{
            .run = "1", .code = engine::ErrorCode::training, .message = message, .hint = message},
        engine::RunDone{.run = "1",
                        .reason = engine::DoneReason::epochs,
                        .steps = 1,
                        .updates = 1,
                        .skipped = 0,
                        .test = part,
                        .wall_s = 1,
                        .samples_per_s = 1,
                        .peak_bytes = 1,
                        .diverged_at = 1,
                        .validation = part,
                        .replaced_samples = 1,
                        .unsaved = 1},
    };
}

std::string type_of(const nlohmann::ordered_json& value) {
    if (value.is_string()) return "text";
    if (value.is_boolean()) return "true or false";
    if (value.is_number_integer()) return "integer";
    if (value.is_number()) return "number";
    return value.is_array() ? "list" : "object";
}

void print_event(const std::string& line) {
    const auto object = nlohmann::ordered_json::parse(line);
    std::printf("\n## %s\n\n", object.at("event").get<std::string>().c_str());
    print_head({"field", "type"});
    for (const auto& [name, value] : object.items())
        if (name != "event" && name != "run") print_row({quoted(name), type_of(value)});
}

std::string example_step() {
    engine::StepRecord row{};
    engine::for_each_field([&row](std::string_view, auto member) {
        using Value = std::remove_reference_t<decltype(row.*member)>;
        row.*member = static_cast<Value>(std::is_floating_point_v<Value> ? 0.5 : 1);
    });
    return engine::to_json_line("1", row, engine::classification_metrics());
}

void print_events() {
    print_title("Events", "events",
                "The fields of each event as `--json` prints it, after `event` and `run`. Fields "
                "that do not apply are left out. [Interfaces](interfaces.md#3-events) says how to "
                "read them. The example run has the metric `accuracy`: other tasks have fields of "
                "their own names. `..._text` and `..._args` are a sentence in parts, for "
                "translation.");
    print_event(example_step());
    for (const auto& event : examples()) print_event(engine::to_json_line(event));
}

void print_figures() {
    print_title(
        "Figures", "figures",
        "Every figure that the program shows for a run or for two has one name, one "
        "definition and one place that computes it. Cards, tables, evidence, status line, "
        "selected step, Runs, events, reports, CSV and `show --json` ask there, so the same "
        "name is the same number everywhere. Figures of a whole run are as of its last "
        "step, over all parts of a run that was resumed. Key: the name in JSON and CSV. "
        "Computed in: a header of `engine/include/engine`, and what in it. A test fails for "
        "a figure on screen that this page lacks.");
    std::printf("\n");
    print_head({"figure", "key", "unit", "definition", "computed in"});
    for (const engine::FigureInfo& info : engine::figure_infos())
        print_row({std::string(info.title), quoted(std::string(info.key)), std::string(info.unit),
                   std::string(info.definition), quoted(std::string(info.owner))});
}

template <typename T>
constexpr const char* numpy_type() {
    if constexpr (std::is_same_v<T, std::uint8_t>) return "u1";
    if constexpr (std::is_same_v<T, std::int32_t>) return "<i4";
    if constexpr (std::is_same_v<T, std::int64_t>) return "<i8";
    return std::is_same_v<T, float> ? "<f4" : "<f8";
}

void print_columns() {
    std::printf(
        "\"\"\"The columns of the step record of one process, in file order.\n\n"
        "Generated from engine/include/engine/record/step_columns.inc: after a change run\n"
        "`build/dev/tests/handbook/handbook_tables columns >\n"
        "resources/python/halftone_watch/record_columns.py`.\n\"\"\"\n\nCOLUMNS = (\n");
    engine::for_each_column([](const engine::StepColumn& column, auto member) {
        using Value = std::remove_reference_t<decltype(engine::StepRecord{}.*member)>;
        if (column.presence <= engine::StepColumn::Presence::added)
            std::printf("    (\"%s\", \"%s\"),\n", column.name, numpy_type<Value>());
    });
    std::printf(")\n");
}

}  // namespace

int main(int argc, char** argv) {
    const std::map<std::string, void (*)()> pages = {{"settings", print_settings},
                                                     {"commands", print_commands},
                                                     {"layers", print_layers},
                                                     {"events", print_events},
                                                     {"figures", print_figures},
                                                     {"columns", print_columns}};
    const auto page = argc == 2 ? pages.find(argv[1]) : pages.end();
    if (page == pages.end()) {
        std::fprintf(stderr, "usage: handbook_tables settings|commands|layers|events|figures|columns\n");
        return 2;
    }
    page->second();
    return 0;
}
