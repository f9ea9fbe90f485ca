#include "engine/runs/run_fields.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_reader.h"
#include "engine/base/plain_text.h"
#include "engine/base/table.h"
#include "engine/runs/run_group.h"
#include "engine/settings/catalog.h"
#include "runs/setting_values.h"
#include "settings/config_fields.h"

namespace engine {
namespace {

using Kind = RunField::Kind;

constexpr std::string_view metric_prefix = "test_";

RunValue figure(double value) { return std::isnan(value) ? RunValue{} : RunValue(value); }

/// A number where the whole text is one.
RunValue number_or_text(const std::string& value) {
    const auto number = to_number<std::int64_t>(value);
    return number ? RunValue(*number) : text_value(value);
}

/// 0 is written by a program that does not report its memory.
RunValue memory(const RunSummary& run) {
    return run.peak_bytes == 0 ? RunValue{} : RunValue(run.peak_bytes);
}

std::string metric_kind(const RunSummary& run) {
    return run.metrics.empty() ? std::string() : run.metrics.front().key;
}

/// Figure of the primary metric; the loss where the task has none.
RunValue primary(const RunSummary& run) {
    return figure(run.metrics.empty() ? run.test.loss : run.test.of(run.metrics.front().key));
}

struct Result {
    const char* name;
    const char* label;
    Kind kind;
    RunValue (*get)(const RunSummary&);
};

/// Fields of a run other than its settings and metrics.
constexpr Result results[] = {
    {"run", "Run", Kind::mixed, [](const RunSummary& run) { return number_or_text(run.run); }},
    {"title", "Name", Kind::text, [](const RunSummary& run) { return text_value(run.title); }},
    {"tags", "Tags", Kind::text, [](const RunSummary& run) { return text_value(run.tags); }},
    {"notes", "Notes", Kind::text, [](const RunSummary& run) { return text_value(run.notes); }},
    {"starred", "Starred", Kind::flag, [](const RunSummary& run) { return RunValue(run.starred); }},
    {"state", "State", Kind::text, [](const RunSummary& run) { return text_value(run.state); }},
    {"started", "Started", Kind::date,
     [](const RunSummary& run) { return text_value(run.started); }},
    {"steps", "Steps", Kind::number, [](const RunSummary& run) { return RunValue(run.steps); }},
    {"skipped", "Skipped steps", Kind::number,
     [](const RunSummary& run) { return RunValue(run.skipped); }},
    {"diverged_at", "Diverged at step", Kind::number,
     [](const RunSummary& run) {
         return run.diverged_at == 0 ? RunValue{} : RunValue(run.diverged_at);
     }},
    {"wall_s", "Training time", Kind::number,
     [](const RunSummary& run) { return figure(run.wall_s); }},
    {"samples_per_s", "Mean speed", Kind::number,
     [](const RunSummary& run) { return figure(run.samples_per_s); }},
    {"peak_bytes", "Peak memory", Kind::number, memory},
    {"disk_bytes", "Size on disk", Kind::number,
     [](const RunSummary& run) {
         return run.disk_bytes == 0 ? RunValue{} : RunValue(run.disk_bytes);
     }},
    {"parent", "Resumed from", Kind::mixed,
     [](const RunSummary& run) { return number_or_text(run.parent); }},
    {"group", "Comparison or sweep", Kind::text,
     [](const RunSummary& run) {
         return run.group_number == 0 ? RunValue{} : RunValue(group_name(run.group_number));
     }},
    {"test_metric", "Test metric", Kind::number, primary},
    {"test_loss", "Test loss", Kind::number,
     [](const RunSummary& run) { return figure(run.test.loss); }},
};

void add_metric(std::vector<RunField>& fields, const Metric& metric) {
    const std::string name = std::string(metric_prefix) + metric.key;
    if (find_run_field(fields, name) == nullptr)
        fields.push_back({name, metric.title, Kind::number, false});
}

/// Figures with six digits.
std::string rounded(const RunValue& value) {
    const auto* real = std::get_if<double>(&value);
    return real == nullptr ? to_string(value) : number_text("%.6g", *real);
}

/// Order of the values of a column: numbers, then texts.
std::strong_ordering compare(const RunValue& a, const RunValue& b) {
    const auto number = [](const RunValue& value) -> std::optional<double> {
        if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
        if (const auto* whole = std::get_if<std::int64_t>(&value))
            return static_cast<double>(*whole);
        if (const auto* real = std::get_if<double>(&value)) return *real;
        return std::nullopt;
    };
    const auto left = number(a), right = number(b);
    if (left && right) return std::strong_order(*left, *right);
    if (left || right) return left ? std::strong_ordering::less : std::strong_ordering::greater;
    return std::get<std::string>(a) <=> std::get<std::string>(b);
}

/// Paths of what differs from the defaults; of options, from those of the chosen kinds.
std::vector<std::string> changed_fields(const RunConfig& config) {
    RunConfig same_kinds;
    same_kinds.dataset.kind = config.dataset.kind;
    same_kinds.model.kind = config.model.kind;
    same_kinds.model.network = config.model.network;
    same_kinds.model.sha256 = config.model.sha256;
    same_kinds.model.notation = config.model.notation;
    same_kinds.optimizer.kind = config.optimizer.kind;
    same_kinds.schedule.kind = config.schedule.kind;
    // The default of the window.
    if (config.instruments.histograms_every.automatic)
        same_kinds.instruments.histograms_every = automatic_histograms;
    auto paths = differing_fields(config, same_kinds);
    const RunConfig defaults;
    const auto add = [&](const char* path, const std::string& kind, const std::string& usual) {
        if (kind != usual) paths.emplace_back(path);
    };
    add("dataset.kind", config.dataset.kind, defaults.dataset.kind);
    add("model.kind", config.model.kind, defaults.model.kind);
    add("optimizer.kind", config.optimizer.kind, defaults.optimizer.kind);
    add("schedule.kind", config.schedule.kind, defaults.schedule.kind);
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// The value as written in the settings; for a run of another program only what both programs have.
std::string text_of(const RunSummary& run, const std::string& path) {
    if (run.origin) return to_string(setting_of(run, path));
    const std::string text = setting_text(run.config, path);
    // Words without quotes.
    const auto value = read_json(text);
    return value.is_string() ? value.get<std::string>() : text;
}

/// A value that another program does not report differs from nothing.
bool differs(const RunDifference& row, std::span<const RunSummary> runs) {
    std::set<std::string> values;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!runs[i].origin || !row.values[i].empty()) values.insert(row.values[i]);
    }
    return values.size() > 1;
}

}  // namespace

std::vector<RunField> run_fields(std::span<const RunSummary> runs) {
    std::vector<RunField> fields;
    for (const Result& result : results)
        fields.push_back({result.name, result.label, result.kind, false});
    for (const TaskDescriptor& task : tasks()) {
        for (const Metric& metric : task.metrics) add_metric(fields, metric);
    }
    for (const RunSummary& run : runs) {
        for (const Metric& metric : run.metrics) add_metric(fields, metric);
    }
    add_settings(fields, runs);
    return fields;
}

const RunField* find_run_field(std::span<const RunField> fields, std::string_view name) {
    const auto found = std::ranges::find(fields, name, &RunField::name);
    return found == fields.end() ? nullptr : &*found;
}

RunValue value_of(const RunSummary& run, const RunField& field) {
    if (field.is_setting) return setting_of(run, field.name);
    const auto found = std::ranges::find(results, std::string_view(field.name),
                                         [](const Result& r) { return std::string_view(r.name); });
    if (found != std::end(results)) return found->get(run);
    return figure(run.test.of(field.name.substr(metric_prefix.size())));
}

std::string to_string(const RunValue& value) {
    struct Text {
        std::string operator()(std::monostate) const { return {}; }
        std::string operator()(const std::string& text) const { return text; }
        std::string operator()(bool flag) const { return shown(flag); }
        std::string operator()(std::int64_t whole) const { return shown(whole); }
        std::string operator()(double real) const { return shown(real); }
    };
    return std::visit(Text{}, value);
}

std::vector<std::size_t> order_by(std::span<const RunSummary> runs, const RunField& field,
                                  bool descending) {
    std::vector<RunValue> keys;
    std::vector<std::size_t> order;
    for (const RunSummary& run : runs) {
        order.push_back(keys.size());
        keys.push_back(value_of(run, field));
    }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const bool left = is_known(keys[a]), right = is_known(keys[b]);
        if (!left || !right) return left && !right;
        // Perplexities and accuracies are not compared: each kind of metric by itself.
        if (field.name == "test_metric") {
            const int kind = metric_kind(runs[a]).compare(metric_kind(runs[b]));
            if (kind != 0) return kind < 0;
        }
        return descending ? compare(keys[b], keys[a]) < 0 : compare(keys[a], keys[b]) < 0;
    });
    return order;
}

namespace {

/// The lines of a's text that b's lacks, as places, and the reverse: the rest, in one order, is the
/// longest that both have. Texts that differ in very many lines count as different altogether.
struct DifferingLines {
    std::size_t a, a_end, b, b_end;
};
std::vector<DifferingLines> differing_lines(const std::vector<std::string>& a,
                                            const std::vector<std::string>& b) {
    constexpr std::size_t most = 4'000'000;  // comparisons
    std::size_t begin = 0, a_end = a.size(), b_end = b.size();
    while (begin < a_end && begin < b_end && a[begin] == b[begin]) ++begin;
    while (a_end > begin && b_end > begin && a[a_end - 1] == b[b_end - 1]) --a_end, --b_end;
    const std::size_t rows = a_end - begin, columns = b_end - begin;
    if (rows == 0 && columns == 0) return {};
    if (rows * columns > most) return {{begin, a_end, begin, b_end}};
    // common[i][j]: lines that a from i and b from j have in one order.
    std::vector<std::vector<std::uint16_t>> common(rows + 1,
                                                   std::vector<std::uint16_t>(columns + 1));
    for (std::size_t i = rows; i-- > 0;) {
        for (std::size_t j = columns; j-- > 0;)
            common[i][j] = a[begin + i] == b[begin + j]
                               ? static_cast<std::uint16_t>(common[i + 1][j + 1] + 1)
                               : std::max(common[i + 1][j], common[i][j + 1]);
    }
    std::vector<DifferingLines> out;
    std::size_t i = 0, j = 0;
    while (i < rows || j < columns) {
        const std::size_t from_a = i, from_b = j;
        while ((i < rows || j < columns) &&
               !(i < rows && j < columns && a[begin + i] == b[begin + j])) {
            const bool skip_a = j == columns || (i < rows && common[i + 1][j] >= common[i][j + 1]);
            ++(skip_a ? i : j);
        }
        if (i > from_a || j > from_b)
            out.push_back({begin + from_a, begin + i, begin + from_b, begin + j});
        while (i < rows && j < columns && a[begin + i] == b[begin + j]) ++i, ++j;
    }
    return out;
}

/// A row for each line in which the networks of two runs differ: "model.network:12" by the first's
/// line, or "model.network:+12" by the second's where the first has none there. One row with the
/// size of each text for more runs, and where a run has none.
std::vector<RunDifference> differing_networks(std::span<const RunSummary> runs) {
    std::vector<RunDifference> out;
    const bool all_have = std::ranges::all_of(
        runs, [](const RunSummary& run) { return !run.config.model.network.empty(); });
    if (runs.size() != 2 || !all_have) {
        RunDifference row{"model.network", {}};
        for (const RunSummary& run : runs) {
            const NetworkLines& text = run.config.model.network;
            row.values.push_back(text.empty() ? std::string()
                                              : std::to_string(text.all.size()) + " lines, " +
                                                    run.config.model.sha256.substr(0, 8));
        }
        return {row};
    }
    const std::vector<std::string>&a = runs[0].config.model.network.all,
    &b = runs[1].config.model.network.all;
    const auto line = [](const std::vector<std::string>& text, std::size_t at, std::size_t end) {
        return at < end ? text[at] : std::string();
    };
    for (const DifferingLines& each : differing_lines(a, b)) {
        const std::size_t rows = std::max(each.a_end - each.a, each.b_end - each.b);
        for (std::size_t i = 0; i < rows; ++i) {
            const bool first = each.a + i < each.a_end;
            const std::string place = first ? std::to_string(each.a + i + 1)
                                            : '+' + std::to_string(each.b + i + 1);
            out.push_back({"model.network:" + place,
                           {line(a, each.a + i, each.a_end), line(b, each.b + i, each.b_end)}});
        }
    }
    return out;
}

}  // namespace

std::vector<RunDifference> differing_settings(std::span<const RunSummary> runs) {
    std::set<std::string> paths;
    for (const RunSummary& run : runs) {
        for (auto& path : differing_fields(runs.front().config, run.config))
            paths.insert(std::move(path));
    }
    std::vector<RunDifference> out;
    const auto add = [&](const std::string& path) {
        RunDifference row{path, {}};
        for (const RunSummary& run : runs) row.values.push_back(text_of(run, path));
        if (differs(row, runs)) out.push_back(std::move(row));
        paths.erase(path);
    };
    const bool text_differs = paths.erase("model.network") != 0;
    paths.erase("model.sha256");
    paths.erase("model.notation");
    for (const RunField& field : run_fields(runs)) {
        if (paths.contains(field.name)) add(field.name);
        if (field.name != "model.path" || !text_differs) continue;
        for (RunDifference& row : differing_networks(runs)) {
            if (differs(row, runs)) out.push_back(std::move(row));
        }
    }
    for (const std::string& path : std::set(paths)) add(path);  // of options of unknown kinds
    return out;
}

std::vector<RunDifference> changed_settings(const RunSummary& run) {
    std::vector<RunDifference> out;
    for (const std::string& path : changed_fields(run.config)) {
        const std::string value = text_of(run, path);
        if (!value.empty()) out.push_back({path, {value}});
    }
    return out;
}

std::vector<RunDifference> compare_results(std::span<const RunSummary> runs) {
    std::vector<RunDifference> out;
    for (const RunField& field : run_fields(runs)) {
        const bool words = field.kind == Kind::text && field.name != "state";
        const bool again =
            field.name == "run" || field.name == "starred" || field.name == "test_metric";
        if (field.is_setting || words || again) continue;
        RunDifference row{field.name, {}};
        for (const RunSummary& run : runs) row.values.push_back(rounded(value_of(run, field)));
        if (std::ranges::any_of(row.values, [](const auto& value) { return !value.empty(); }))
            out.push_back(std::move(row));
    }
    return out;
}

}  // namespace engine
