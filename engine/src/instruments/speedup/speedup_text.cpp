#include "base/json_fields.h"
#include "base/json_reader.h"
#include "engine/base/table.h"
#include "engine/instruments/speedup.h"
#include "engine/number/figure_text.h"
#include "engine/train/batch_finder.h"

namespace engine {
namespace {

/// The memory limit of the largest batches, the same for all rows of a measurement; 0: none
/// searched.
std::int64_t batch_memory(const std::vector<Speedup>& rows) {
    return rows.empty() ? 0 : rows.front().batch_memory;
}

std::vector<std::string> heads(std::int64_t batch_memory) {
    std::vector<std::string> out{"model",    "precision",     "batch",  "FP32 ms", "AMP ms",
                                 "speed-up", "least to most", "memory", "FP32's"};
    if (batch_memory > 0) {
        out.push_back("largest batch in " + bytes_text(batch_memory));
        out.emplace_back("FP32's");
    }
    return out;
}

/// The size at which the search ends is not the result.
bool is_lower_bound(std::int64_t batch) { return batch >= max_batch_tried; }
std::string batch_text(std::int64_t batch) {
    return (is_lower_bound(batch) ? "≥ " : "") + std::to_string(batch);
}

Table to_table(const std::vector<Speedup>& rows) {
    Table out{heads(batch_memory(rows))};
    for (const Speedup& p : rows) {
        Table::Row& row = out.rows.emplace_back(Table::Row{
            p.model, p.precision, p.batch_size, Cell(p.fp32_ms, "%.3g"), Cell(p.amp_ms, "%.3g"),
            Cell(p.speed_up, "%.2f"),
            number_text("%.2f", p.least) + " to " + number_text("%.2f", p.most),
            bytes_text(p.amp_bytes), bytes_text(p.fp32_bytes)});
        if (p.batch_memory == 0) continue;
        row.emplace_back(batch_text(p.largest_batch));
        row.emplace_back(batch_text(p.fp32_largest_batch));
    }
    return out;
}

}  // namespace

void list_fields(const auto& f, Is<StepParts> auto& parts) {
    f("products_ms", parts.products, "memory_ms", parts.memory, "brief_ms", parts.brief,
      "casts_ms", parts.casts, "update_ms", parts.update, "brief_ops", parts.brief_ops,
      "cast_bytes", parts.cast_bytes, "product_flops", parts.product_flops);
}

void list_fields(const auto& f, Is<Speedup> auto& p) {
    f("model", p.model, "precision", p.precision, "batch_size", p.batch_size,
      "fp32_step_ms", p.fp32_ms, "step_ms", p.amp_ms, "speed_up", p.speed_up,
      "speed_up_least", p.least, "speed_up_most", p.most, "fp32_peak_bytes", p.fp32_bytes,
      "peak_bytes", p.amp_bytes, "peaks", p.peaks, "fp32_parts", p.fp32, "parts", p.amp);
    // Filled in by a search for the largest batches alone.
    f.unless("batch_memory", p.batch_memory, 0);
    f.unless("fp32_largest_batch", p.fp32_largest_batch, 0);
    f.unless("largest_batch", p.largest_batch, 0);
}

std::string text_of(const std::vector<Speedup>& rows) {
    std::string text = to_text(to_table(rows), 2) + "\n";
    for (const Speedup& row : rows) text += row.model + ": " + row.sentence.str() + "\n";
    return text;
}

std::string to_markdown(const std::vector<Speedup>& rows) {
    Table table = to_table(rows);
    table.columns.emplace_back("why");
    for (std::size_t i = 0; i < rows.size(); ++i)
        table.rows[i].emplace_back(rows[i].sentence.str());
    return to_markdown(table, 2);
}

std::string to_json(const Speedup& p) {
    nlohmann::ordered_json out = p;
    out["event"] = "pay_off";
    out["pays"] = p.pays();
    out["reason"] = name(p.reason);
    out["why"] = p.sentence.str();
    if (p.batch_memory > 0) {
        out["fp32_largest_batch"] = p.fp32_largest_batch;
        out["largest_batch"] = p.largest_batch;
        out["fp32_largest_batch_at_least"] = is_lower_bound(p.fp32_largest_batch);
        out["largest_batch_at_least"] = is_lower_bound(p.largest_batch);
    }
    return nlohmann::json(out).dump();
}

std::optional<Speedup> parse_speedup(std::string_view json) {
    try {
        auto row = read_json(json).get<Speedup>();
        explain(row);
        return row;
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

}  // namespace engine
