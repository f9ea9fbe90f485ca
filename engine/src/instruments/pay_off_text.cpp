#include <nlohmann/json.hpp>

#include "engine/pay_off.h"
#include "store/text_table.h"

namespace engine {
namespace {

std::string number(const char* format, double value) { return number_text(format, value); }
std::string megabytes(std::int64_t bytes) {
    const double value = static_cast<double>(bytes) * 1e-6;
    return number(value < 10 ? "%.2g" : "%.0f", value);
}

/// The memory limit of the largest batches, the same for all rows of a measurement; 0: none
/// searched.
std::int64_t batch_memory(const std::vector<PayOff>& rows) {
    return rows.empty() ? 0 : rows.front().batch_memory;
}

Cells heads(std::int64_t batch_memory) {
    Cells out{"model",    "precision",     "batch",      "FP32 ms", "AMP ms",
              "speed-up", "least to most", "memory, MB", "FP32's"};
    if (batch_memory > 0) {
        out.push_back("largest batch in " + megabytes(batch_memory) + " MB");
        out.emplace_back("FP32's");
    }
    return out;
}

Cells cells(const PayOff& p) {
    Cells out{p.model,
              p.precision,
              std::to_string(p.batch_size),
              number("%.3g", p.fp32_ms),
              number("%.3g", p.amp_ms),
              number("%.2f", p.speed_up),
              number("%.2f", p.least) + " to " + number("%.2f", p.most),
              megabytes(p.amp_bytes),
              megabytes(p.fp32_bytes)};
    if (p.batch_memory > 0) {
        out.push_back(std::to_string(p.largest_batch));
        out.push_back(std::to_string(p.fp32_largest_batch));
    }
    return out;
}

std::string bar_joined(const Cells& cells) {
    std::string line = "|";
    for (const std::string& cell : cells) line += " " + cell + " |";
    return line + "\n";
}

nlohmann::json json_of(const StepParts& parts) {
    return {{"products_ms", parts.products},  {"memory_ms", parts.memory},
            {"brief_ms", parts.brief},        {"casts_ms", parts.casts},
            {"update_ms", parts.update},      {"brief_ops", parts.brief_ops},
            {"cast_bytes", parts.cast_bytes}, {"product_flops", parts.product_flops}};
}

StepParts parts_of(const nlohmann::json& json) {
    StepParts parts;
    json.at("products_ms").get_to(parts.products);
    json.at("memory_ms").get_to(parts.memory);
    json.at("brief_ms").get_to(parts.brief);
    json.at("casts_ms").get_to(parts.casts);
    json.at("update_ms").get_to(parts.update);
    json.at("brief_ops").get_to(parts.brief_ops);
    json.at("cast_bytes").get_to(parts.cast_bytes);
    json.at("product_flops").get_to(parts.product_flops);
    return parts;
}

/// Throws nlohmann::json::exception if a field is missing or of another type.
PayOff pay_off_of(const nlohmann::json& json) {
    PayOff p;
    json.at("model").get_to(p.model);
    json.at("precision").get_to(p.precision);
    json.at("batch_size").get_to(p.batch_size);
    json.at("fp32_step_ms").get_to(p.fp32_ms);
    json.at("step_ms").get_to(p.amp_ms);
    json.at("speed_up").get_to(p.speed_up);
    json.at("speed_up_least").get_to(p.least);
    json.at("speed_up_most").get_to(p.most);
    json.at("fp32_peak_bytes").get_to(p.fp32_bytes);
    json.at("peak_bytes").get_to(p.amp_bytes);
    p.batch_memory = json.value("batch_memory", p.batch_memory);
    p.fp32_largest_batch = json.value("fp32_largest_batch", p.fp32_largest_batch);
    p.largest_batch = json.value("largest_batch", p.largest_batch);
    p.fp32 = parts_of(json.at("fp32_parts"));
    p.amp = parts_of(json.at("parts"));
    json.at("peaks").get_to(p.peaks);
    explain(p);
    return p;
}

}  // namespace

std::string text_of(const std::vector<PayOff>& rows) {
    std::vector<Cells> lines{heads(batch_memory(rows))};
    for (const PayOff& row : rows) lines.push_back(cells(row));
    std::string text = aligned(lines, 2) + "\n";
    for (const PayOff& row : rows) text += row.model + ": " + row.sentence.str() + "\n";
    return text;
}

std::string markdown_of(const std::vector<PayOff>& rows) {
    Cells head = heads(batch_memory(rows));
    head.emplace_back("why");
    std::string text = bar_joined(head) + "| --- | --- |";
    for (std::size_t i = 2; i + 1 < head.size(); ++i) text += " ---: |";
    text += " --- |\n";
    for (const PayOff& row : rows) {
        Cells line = cells(row);
        line.push_back(row.sentence.str());
        text += bar_joined(line);
    }
    return text;
}

std::string to_json(const PayOff& p) {
    nlohmann::json json{{"event", "pay_off"},
                        {"model", p.model},
                        {"precision", p.precision},
                        {"batch_size", p.batch_size},
                        {"fp32_step_ms", p.fp32_ms},
                        {"step_ms", p.amp_ms},
                        {"speed_up", p.speed_up},
                        {"speed_up_least", p.least},
                        {"speed_up_most", p.most},
                        {"fp32_peak_bytes", p.fp32_bytes},
                        {"peak_bytes", p.amp_bytes},
                        {"pays", p.pays()},
                        {"reason", name_of(p.reason)},
                        {"why", p.sentence.str()},
                        {"fp32_parts", json_of(p.fp32)},
                        {"parts", json_of(p.amp)},
                        {"peaks", p.peaks}};
    if (p.batch_memory > 0) {
        json["batch_memory"] = p.batch_memory;
        json["fp32_largest_batch"] = p.fp32_largest_batch;
        json["largest_batch"] = p.largest_batch;
    }
    return json.dump();
}

std::optional<PayOff> parse_pay_off(std::string_view json) {
    try {
        return pay_off_of(nlohmann::json::parse(json));
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

}  // namespace engine
