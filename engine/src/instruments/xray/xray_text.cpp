#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/base/plain_text.h"
#include "engine/base/table.h"
#include "engine/instruments/xray.h"
#include "engine/number/figure_text.h"

namespace engine {
namespace {

constexpr std::size_t max_totals = 12;

std::string shape_text(const XrayTensor& tensor) {
    return tensor.dtype + (tensor.shape.empty() ? "" : " " + join(tensor.shape, "x"));
}

/// "f32, f16": each type once, in order.
std::string types(const std::vector<XrayTensor>& tensors) {
    std::vector<std::string> seen;
    for (const auto& each : tensors)
        if (std::ranges::find(seen, each.dtype) == seen.end()) seen.push_back(each.dtype);
    return join(seen);
}

std::string rule_text(const XrayOp& op) {
    return op.rule == "forced" ? "forced by " + op.key : op.rule;
}

std::int64_t cast_bytes(const XrayOp& op) {
    std::int64_t bytes = 0;
    for (const auto& cast : op.casts) bytes += cast.bytes;
    return bytes;
}

/// "3 (1.23 KB)", "2 kept", "-"
std::string casts_text(const XrayOp& op) {
    std::string out;
    if (!op.casts.empty())
        out = std::to_string(op.casts.size()) + " (" + bytes_text(cast_bytes(op)) + ")";
    if (op.kept_copies > 0)
        out += (out.empty() ? "" : ", ") + std::to_string(op.kept_copies) + " kept";
    if (op.cached_casts > 0)
        out += (out.empty() ? "" : ", ") + std::to_string(op.cached_casts) + " cached";
    return out.empty() ? "-" : out;
}

Table::Row cells(const XrayOp& op) {
    const double rate = op.us > 0 ? op.flops / op.us * 1e-3 : 0;  // GFLOP/s
    return {"  " + op.op,
            types(op.inputs),
            op.outputs.empty() ? op.compute_dtype : shape_text(op.outputs.front()),
            rule_text(op),
            casts_text(op),
            Cell(op.us, "%.1f"),
            Cell(rate, "%.2f"),
            Cell(100 * op.peak_share, "%.1f %%"),
            bytes_text(op.memory_bytes)};
}

/// Operations in order, with a line of its own where the module or the pass changes.
std::string op_table(const Xray& xray) {
    Table table{{"operation", "in", "out", "rule", "casts", "us", "GFLOP/s", "of peak", "memory"}};
    const XrayOp* before = nullptr;
    for (const XrayOp& op : xray.ops) {
        if (before == nullptr || before->module != op.module || before->pass != op.pass ||
            before->call != op.call) {
            Table::Row head(table.columns.size(), "");
            head[0] = std::string(name(op.pass)) + (op.module.empty() ? "" : " " + op.module) +
                      (op.call > 0 ? ", call " + std::to_string(op.call) : "");
            table.rows.push_back(std::move(head));
        }
        table.rows.push_back(cells(op));
        before = &op;
    }
    return to_text(table, 5);
}

std::string totals_table(const std::string& what, const std::vector<XrayTotal>& sums, double all) {
    Table table{{what, "operations", "us", "share", "GFLOP", "casts", "cast bytes"}};
    for (std::size_t i = 0; i < std::min(sums.size(), max_totals); ++i) {
        const XrayTotal& sum = sums[i];
        table.rows.push_back({sum.name.empty() ? "(none)" : sum.name, sum.ops, Cell(sum.us, "%.1f"),
                              Cell(100 * sum.us / std::max(all, 1e-9), "%.1f %%"),
                              Cell(sum.flops * 1e-9, "%.4g"), sum.casts,
                              bytes_text(sum.cast_bytes)});
    }
    return to_text(table, 1);
}

std::string head(const Xray& xray, const XrayTotal& all) {
    char text[400];
    std::snprintf(text, sizeof text,
                  "Step %lld on %s in %s: %lld operations, %.3f ms traced (%.3f ms without the "
                  "trace), %.4g GFLOP, %lld casts of %s in %.3f ms, loss %.6g, peak memory %s\n",
                  static_cast<long long>(xray.step), xray.device.c_str(), xray.precision.c_str(),
                  static_cast<long long>(all.ops), xray.step_ms, xray.untraced_ms, all.flops * 1e-9,
                  static_cast<long long>(all.casts), bytes_text(all.cast_bytes).c_str(),
                  all.cast_us / 1000, xray.loss, bytes_text(xray.peak_bytes).c_str());
    std::string out = text;
    for (const auto& [dtype, peak] : xray.peaks)
        out += "A large product in " + dtype + " reaches " + number_text("%.1f", peak * 1e-9) +
               " GFLOP/s here.\n";
    return out;
}

Table::Row outcome_cells(const char* name, const XrayOutcome& outcome) {
    return {name, Cell(outcome.loss, "%.6g"), Cell(outcome.gradient_error, "%.3g"),
            Cell(outcome.step_ms, "%.3f"), bytes_text(outcome.peak_bytes)};
}

/// "f16[32x6x24x24] f32[6]"
std::string tensor_list(const std::vector<XrayTensor>& tensors) {
    return join(tensors, " ", [](const XrayTensor& tensor) {
        return tensor.dtype + "[" + join(tensor.shape, "x") + "]";
    });
}

}  // namespace

std::string text_of(const Xray& xray) {
    const XrayTotal all = total(xray);
    return head(xray, all) + "\n" + op_table(xray) + "\n" +
           totals_table("type", totals_by_dtype(xray), all.us) + "\n" +
           totals_table("operation", totals_by_op(xray), all.us) + "\n" +
           totals_table("module", totals_by_module(xray), all.us);
}

std::string text_of(const XrayExperiment& experiment) {
    return to_text({{"", "loss", "gradient error", "ms", "peak memory"},
                    {outcome_cells("before", experiment.before),
                     outcome_cells("after", experiment.after)}},
                   1) +
           experiment.conclusion.str() + "\n";
}

Table to_table(const Xray& xray, const XrayFilter& passes) {
    Table out{{"step", "precision", "pass", "module", "op", "inputs", "outputs", "compute_dtype",
               "rule", "casts", "cast_bytes", "cached_casts", "start_us", "us", "flops",
               "peak_share", "bytes_read", "bytes_written", "memory_bytes"}};
    for (const XrayOp& op : xray.ops) {
        if (!passes(op)) continue;
        out.rows.push_back({xray.step, xray.precision, name(op.pass), op.module, op.op,
                            tensor_list(op.inputs), tensor_list(op.outputs), op.compute_dtype,
                            op.rule, op.casts.size(), cast_bytes(op),
                            op.cached_casts + op.kept_copies, finite_cell(op.start_us),
                            finite_cell(op.us), finite_cell(op.flops), finite_cell(op.peak_share),
                            op.bytes_read, op.bytes_written, op.memory_bytes});
    }
    return out;
}

Table to_table(const Xray& first, const Xray& second, const XrayFilter& passes) {
    Table out{{"step", "pass", "module", "op"}};
    for (const char* figure : {"outputs ", "us ", "bytes_written "})
        for (const Xray* xray : {&first, &second}) out.columns.push_back(figure + xray->precision);
    for (const auto& [one, two] : pair_ops(first, second)) {
        if (!(one != nullptr && passes(*one)) && !(two != nullptr && passes(*two))) continue;
        const XrayOp& any = one != nullptr ? *one : *two;
        Table::Row& row =
            out.rows.emplace_back(Table::Row{first.step, name(any.pass), any.module, any.op});
        const auto add = [&row, pair = std::array{one, two}](auto figure) {
            for (const XrayOp* op : pair) row.push_back(op == nullptr ? Cell() : figure(*op));
        };
        add([](const XrayOp& op) { return Cell(tensor_list(op.outputs)); });
        add([](const XrayOp& op) { return finite_cell(op.us); });
        add([](const XrayOp& op) { return Cell(op.bytes_written); });
    }
    return out;
}

}  // namespace engine
