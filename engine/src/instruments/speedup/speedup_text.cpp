#include <nlohmann/json.hpp>

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

/// Calls f(key, member) for each field of a step's parts.
template <typename F>
void for_each_part(F&& f) {
    f("products_ms", &StepParts::products);
    f("memory_ms", &StepParts::memory);
    f("brief_ms", &StepParts::brief);
    f("casts_ms", &StepParts::casts);
    f("update_ms", &StepParts::update);
    f("brief_ops", &StepParts::brief_ops);
    f("cast_bytes", &StepParts::cast_bytes);
    f("product_flops", &StepParts::product_flops);
}

/// Calls f(key, member) for each field that was measured.
template <typename F>
void for_each_figure(F&& f) {
    f("model", &Speedup::model);
    f("precision", &Speedup::precision);
    f("batch_size", &Speedup::batch_size);
    f("fp32_step_ms", &Speedup::fp32_ms);
    f("step_ms", &Speedup::amp_ms);
    f("speed_up", &Speedup::speed_up);
    f("speed_up_least", &Speedup::least);
    f("speed_up_most", &Speedup::most);
    f("fp32_peak_bytes", &Speedup::fp32_bytes);
    f("peak_bytes", &Speedup::amp_bytes);
    f("peaks", &Speedup::peaks);
}

/// Calls f for the fields that only a search for the largest batches fills in.
template <typename F>
void for_each_batch_figure(F&& f) {
    f("batch_memory", &Speedup::batch_memory);
    f("fp32_largest_batch", &Speedup::fp32_largest_batch);
    f("largest_batch", &Speedup::largest_batch);
}

nlohmann::json make_json(const StepParts& parts) {
    nlohmann::json json;
    for_each_part([&](const char* key, auto member) { json[key] = parts.*member; });
    return json;
}

StepParts parse_parts(const nlohmann::json& json) {
    StepParts parts;
    for_each_part([&](const char* key, auto member) { json.at(key).get_to(parts.*member); });
    return parts;
}

/// Throws nlohmann::json::exception if a field is missing or of another type.
Speedup parse_row(const nlohmann::json& json) {
    Speedup p;
    for_each_figure([&](const char* key, auto member) { json.at(key).get_to(p.*member); });
    for_each_batch_figure(
        [&](const char* key, auto member) { p.*member = json.value(key, p.*member); });
    p.fp32 = parse_parts(json.at("fp32_parts"));
    p.amp = parse_parts(json.at("parts"));
    explain(p);
    return p;
}

}  // namespace

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
    nlohmann::json json{{"event", "pay_off"},
                        {"pays", p.pays()},
                        {"reason", name(p.reason)},
                        {"why", p.sentence.str()},
                        {"fp32_parts", make_json(p.fp32)},
                        {"parts", make_json(p.amp)}};
    const auto write = [&](const char* key, auto member) { json[key] = p.*member; };
    for_each_figure(write);
    if (p.batch_memory > 0) {
        for_each_batch_figure(write);
        json["fp32_largest_batch_at_least"] = is_lower_bound(p.fp32_largest_batch);
        json["largest_batch_at_least"] = is_lower_bound(p.largest_batch);
    }
    return json.dump();
}

std::optional<Speedup> parse_speedup(std::string_view json) {
    try {
        return parse_row(read_json(json));
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

}  // namespace engine
