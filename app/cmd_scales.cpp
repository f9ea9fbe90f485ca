#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/base/table.h"
#include "engine/record/quantization_record.h"
#include "engine/runs/run_listing.h"
#include "find_run.h"
#include "terminal.h"

namespace app {
namespace {

using engine::QuantizationRow;
using engine::QuantizationSlot;

struct ScalesArguments {
    std::string run;
    std::int64_t step = 0;
    std::optional<std::string> slot;
    std::string sort = "name";
    bool csv = false, raw = false;
};

using Slots = std::vector<QuantizationSlot>;
using Rows = std::vector<QuantizationRow>;

const QuantizationSlot& slot_of(const Slots& slots, const QuantizationRow& row) {
    return slots[static_cast<std::size_t>(row.slot)];
}

/// The rows of one operand, or all.
Rows chosen(Rows rows, const Slots& slots, const ScalesArguments& args) {
    if (!args.slot) return rows;
    std::erase_if(rows,
                  [&](const auto& row) { return slot_of(slots, row).name() != *args.slot; });
    if (!rows.empty()) return rows;
    std::vector<std::string> names;
    for (const QuantizationSlot& each : slots)
        if (std::ranges::find(names, each.name()) == names.end()) names.push_back(each.name());
    throw engine::Error(engine::ErrorCode::settings,
                        engine::msg("--slot: {}: the run has no such operand", *args.slot),
                        engine::msg("It has {}.", engine::join(names, ", ")));
}

/// The worst come first.
void sort(Rows& rows, const std::string& by) {
    const auto falling = [&](auto value) {
        // NaN last: it was not measured.
        std::ranges::stable_sort(rows, std::ranges::greater(), [value](const QuantizationRow& row) {
            const double key = value(row);
            return std::isnan(key) ? -std::numeric_limits<double>::infinity() : key;
        });
    };
    if (by == "zeroed") falling([](const auto& row) { return row.zeroed_share(); });
    if (by == "saturated") falling([](const auto& row) { return row.saturated_share(); });
    if (by == "error") falling([](const auto& row) { return -row.decibels(); });
}

engine::Cell share_cell(double share) {
    if (share > 0 && share < 5e-5) return "<0.01 %";
    return {100 * share, "%.2f %%"};
}

engine::Cell scale_cell(float scale) { return engine::finite_cell(static_cast<double>(scale), "%.4g"); }

void print_rows(const Rows& rows, const Slots& slots) {
    engine::Table table{{"tensor", "sums over", "format", "amax", "scale", "smallest", "largest",
                         "floor", "zeroed", "saturated", "subnormal", "error dB", "not finite"}};
    for (const QuantizationRow& row : rows) {
        const QuantizationSlot& slot = slot_of(slots, row);
        const double subnormal =
            static_cast<double>(row.subnormal) / static_cast<double>(row.elements);
        table.rows.push_back({slot.name(), slot.orientation, slot.format, scale_cell(row.amax),
                              scale_cell(row.scale), scale_cell(row.block_scale_min),
                              scale_cell(row.block_scale_max), scale_cell(row.scale_floor),
                              share_cell(row.zeroed_share()), share_cell(row.saturated_share()),
                              share_cell(subnormal), engine::finite_cell(row.decibels(), "%.1f"),
                              row.nonfinite});
    }
    std::cout << to_text(table, 3);
}

/// Alarms up to this step, or all.
void print_alarms(const std::filesystem::path& folder, const ScalesArguments& args) {
    const auto listed = engine::read_run_folder(folder, [&](const engine::Event& event) {
        const auto* const alarm = std::get_if<engine::ScaleAlarm>(&event);
        return alarm != nullptr && (args.step == 0 || alarm->step <= args.step) &&
               (!args.slot || alarm->module + '.' + alarm->role == *args.slot);
    });
    if (!listed || listed->events.empty()) return;
    std::cout << "\nalarms\n";
    for (const engine::Event& event : listed->events) {
        const auto& alarm = std::get<engine::ScaleAlarm>(event);
        std::cout << "  step " << alarm.step << "  " << name(alarm.kind) << "  "
                  << alarm.hint.str() << '\n';
    }
}

int scales(const ScalesArguments& args) {
    const auto run = find_run(args.run);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    const std::filesystem::path& folder = run->summary.folder;
    const bool has_any = engine::QuantizationReader::exists(folder);
    const auto refuse = [] {
        throw engine::Error(engine::ErrorCode::settings,
                            engine::msg("The run has no record of casts."),
                            engine::msg("Train with a recipe in 8 or 4 bits, such as "
                                        "precision.preset=mxfp8, and instruments.quantization_every "
                                        "above 0."));
    };
    if (!has_any) refuse();
    if (args.sort != "name" && args.sort != "zeroed" && args.sort != "saturated" &&
        args.sort != "error")
        throw engine::Error(engine::ErrorCode::settings,
                            engine::msg("--sort: {}: use name, zeroed, saturated or error",
                                        args.sort));
    const auto reader = engine::QuantizationReader::open(folder);
    if (reader.steps().empty()) refuse();
    const std::int64_t step = args.step > 0 ? args.step : reader.steps().back();
    Rows rows = chosen(reader.read(step), reader.slots(), args);
    sort(rows, args.sort);
    if (args.csv) {
        std::cout << to_csv(to_table(rows, reader.slots()), args.raw);
        return 0;
    }
    print_formatted("step %lld", static_cast<long long>(rows.front().step));
    if (rows.front().step != step)
        print_formatted("; step %lld was not sampled, this is the nearest",
                        static_cast<long long>(step));
    print_formatted("; emulated: the same numbers as a card's, and says nothing about its speed\n\n");
    print_rows(rows, reader.slots());
    print_alarms(folder, args);
    return 0;
}

}  // namespace

void describe_scales(Command command) {
    auto args = std::make_shared<ScalesArguments>();
    command.text("RUN", args->run, "A run of the history (its number or title), or its folder")
        .required()
        .not_empty();
    command.number("STEP", args->step, "A step of the run, of which the nearest sample is shown; "
                                       "without one the last sample")
        .within(1, std::numeric_limits<std::int64_t>::max())
        .optional();
    command.text("--slot", args->slot, "Only this operand: a layer and x, w or g, such as fc1.g")
        .not_empty().takes("NAME.g");
    command.text("--sort", args->sort, "zeroed, saturated or error: the worst first")
        .not_empty().takes("name|zeroed|saturated|error");
    command.flag("--csv", args->csv, "All figures as CSV");
    command.flag("--raw", args->raw, "With --csv: every text as it is");
    command.run([args] { return scales(*args); });
}

}  // namespace app
