#include <nlohmann/json.hpp>

#include "engine/pay_off.h"
#include "store/text_table.h"

namespace engine {
namespace {

std::string number(const char* format, double value) { return number_text(format, value); }

Cells heads() {
    return {"model",    "precision",     "batch",      "FP32 ms", "AMP ms",
            "speed-up", "least to most", "memory, MB", "FP32's"};
}

Cells cells(const PayOff& p) {
    return {p.model,
            p.precision,
            std::to_string(p.batch_size),
            number("%.3g", p.fp32_ms),
            number("%.3g", p.amp_ms),
            number("%.2f", p.speed_up),
            number("%.2f", p.least) + " to " + number("%.2f", p.most),
            number("%.0f", static_cast<double>(p.amp_bytes) * 1e-6),
            number("%.0f", static_cast<double>(p.fp32_bytes) * 1e-6)};
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

}  // namespace

std::string text_of(const std::vector<PayOff>& rows) {
    std::vector<Cells> lines{heads()};
    for (const PayOff& row : rows) lines.push_back(cells(row));
    std::string text = aligned(lines, 2) + "\n";
    for (const PayOff& row : rows) text += row.model + ": " + row.sentence.str() + "\n";
    return text;
}

std::string markdown_of(const std::vector<PayOff>& rows) {
    Cells head = heads();
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
    return nlohmann::json{{"event", "pay_off"},
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
                          {"peaks", p.peaks}}
        .dump();
}

}  // namespace engine
