// Skipped steps as text for a terminal.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "engine/base/plain_text.h"
#include "engine/instruments/skip_report.h"
#include "engine/instruments/skips.h"
#include "engine/number/figure_text.h"

namespace engine {
namespace {

constexpr std::size_t max_links = 24, max_shares = 8;

std::string shape_text(const std::vector<std::int64_t>& shape) {
    return shape.empty() ? "one number" : join(shape, " x ");
}

std::string index_text(const std::vector<std::int64_t>& index) {
    return "[" + join(index) + "]";
}

void print_first(std::ostream& out, const BadTensor& first) {
    out << "\nFirst non-finite tensor\n";
    if (!first.name.empty()) out << "  tensor   " << first.name << '\n';
    if (!first.op.empty()) {
        out << "  made by  " << first.op;
        if (!first.module.empty()) out << " in " << first.module;
        out << ", " << name(first.stage) << ", operation " << first.order + 1 << '\n';
    } else {
        out << "  found in " << name(first.stage) << '\n';
    }
    out << "  values   " << first.tensor.dtype << ", " << shape_text(first.tensor.shape) << ": "
        << first.infinite << " inf, " << first.nan << " NaN of " << first.total << '\n'
        << "  first    " << index_text(first.index) << " = " << figure_text(first.value) << '\n';
    for (const TensorGlance& input : first.inputs)
        out << "  fed by   " << input.dtype << ", " << shape_text(input.shape)
            << ", largest magnitude " << figure_text(input.largest) << '\n';
    if (!std::isnan(first.largest_in_f32))
        out << "  in FP32  largest magnitude " << figure_text(first.largest_in_f32)
            << (first.stage == SkipStage::backward ? " (times the loss scale)" : "") << '\n';
}

void print_chain(std::ostream& out, const SkipReport& report) {
    if (report.chain.empty()) return;
    const bool forward = report.first && report.first->stage != SkipStage::backward &&
                         report.first->stage != SkipStage::update;
    out << '\n'
        << (forward ? "Forward pass: largest outputs by layer (in FP32)"
                    : "Backward pass: largest scaled gradients by layer, of outputs and of "
                      "weights (in FP32); FP16 ends at 65504")
        << '\n';
    for (std::size_t i = 0; i < std::min(report.chain.size(), max_links); ++i) {
        const ChainLink& link = report.chain[i];
        out << "  " << (link.module.empty() ? "(outside)" : link.module) << "  "
            << (link.dtype.empty() ? "-" : link.dtype) << ' ' << figure_text(link.largest) << " ("
            << figure_text(link.largest_in_f32) << ")";
        if (!forward)
            out << "  weights " << figure_text(link.weights) << " ("
                << figure_text(link.weights_in_f32) << ")";
        out << '\n';
    }
    if (report.chain.size() > max_links)
        out << "  and " << report.chain.size() - max_links << " more\n";
}

void print_ladder(std::ostream& out, const SkipReport& report) {
    if (report.ladder.empty()) return;
    out << "\nAt other loss scales\n";
    for (const StepTrial& each : report.ladder) {
        out << "  " << scale_text(each.scale) << "  " << (each.passes ? "passes" : "fails")
            << '\n';
    }
    // Reports of earlier versions have a bound for faults of the forward pass, too.
    if (report.cause == SkipCause::scale_too_large && std::isfinite(report.scale_bound))
        out << "  By the FP32 gradients any scale up to " << scale_limit_text(report.scale_bound)
            << " keeps them in range.\n";
}

void print_samples(std::ostream& out, const SkipReport& report) {
    if (report.samples_note.empty()) return;
    out << "\nSamples\n  " << report.samples_note.str() << '\n';
    for (std::size_t i = 0; i < std::min(report.samples.size(), max_shares); ++i) {
        const SampleShare& each = report.samples[i];
        out << "  sample " << each.sample << " (row " << each.row
            << "): " << detail::written(std::round(1000 * each.share) / 10) << " %";
        if (each.bad > 0) out << ", " << each.bad << " non-finite values";
        out << '\n';
    }
}

}  // namespace

std::string skip_page(const SkipReport& report) {
    std::ostringstream out;
    out << "Run " << (report.run.empty() ? "-" : report.run) << ", step " << report.step << ", "
        << report.precision << " on " << report.device << ": "
        << (report.skipped ? "skipped" : "not skipped") << ", loss " << figure_text(report.loss)
        << ", loss scale " << scale_text(report.loss_scale) << '\n'
        << '\n'
        << report.verdict().str() << '\n'
        << report.advice.str() << "\n\nTests\n";
    for (const SkipTest& test : report.tests)
        out << "  " << (test.found ? "[x] " : "[ ] ") << title(test.cause).str() << ": "
            << test.finding.str() << '\n';
    if (report.damaged_at > 0)
        out << "  The state was damaged by step " << report.damaged_at << ".\n";
    if (report.first) print_first(out, *report.first);
    print_chain(out, report);
    print_ladder(out, report);
    print_samples(out, report);
    return out.str();
}

std::string trial_page(std::int64_t step, const StepTrial& trial) {
    std::ostringstream out;
    out << "Step " << step << " at scale " << scale_text(trial.scale) << ": "
        << (trial.passes ? "passes" : "fails") << ", loss " << figure_text(trial.loss)
        << ", gradient norm " << figure_text(trial.grad_norm) << '\n';
    return out.str();
}

std::string skips_page(const SkipList& skips) {
    std::ostringstream out;
    if (skips.list.empty()) {
        out << "Run " << skips.run << ": no skipped steps in " << skips.steps << ".\n";
        return out.str();
    }
    for (const SkipGroup& group : group_skips(skips)) {
        // Steps that follow from one fault are one line; each step of a scale that comes down has
        // its own.
        const std::size_t lines = group.bad ? 1 : group.count;
        for (std::size_t i = 0; i < lines; ++i) {
            const SkippedStep& each = skips.list[group.first + i];
            if (lines < group.count)
                out << "steps " << each.step << " to "
                    << skips.list[group.first + group.count - 1].step << ", " << group.count
                    << " in a row";
            else
                out << "step " << each.step;
            out << "  scale " << scale_text(each.loss_scale) << "  loss "
                << figure_text(each.loss) << "  " << (each.skipped ? "skipped" : "not skipped")
                << "  " << (each.report ? title(each.report->cause).str() : "not examined") << '\n';
        }
    }
    out << skips.list.size() << " of " << skips.steps << " steps; " << skips.clean_steps
        << " clean ones since.\n";
    for (const RecurringSample& each : skips.recurring) {
        out << "Sample " << each.sample
            << (std::isnan(each.chance) ? " is among the largest in steps"
                                        : ", more often than by chance, is in steps");
        for (const std::int64_t step : each.steps) out << ' ' << step;
        out << ".\n";
    }
    return out.str();
}

Table to_table(const SkipList& skips) {
    Table out{{"step", "skipped", "loss", "loss_scale", "grad_norm", "cause", "stage", "module",
               "name", "op", "dtype", "inf", "nan", "values", "largest_in_f32", "passing_scale",
               "scale_bound"}};
    const auto known = [](double value) { return std::isnan(value) ? Cell() : Cell(value); };
    for (const SkippedStep& step : skips.list) {
        Table::Row& row = out.rows.emplace_back(
            Table::Row{step.step, step.skipped, step.loss, step.loss_scale, step.grad_norm});
        if (const auto& report = step.report) {
            row.emplace_back(name(report->cause));
            if (const auto& bad = report->first)
                row.insert(row.end(),
                           {name(bad->stage), bad->module, bad->name, bad->op, bad->tensor.dtype,
                            bad->infinite, bad->nan, bad->total, known(bad->largest_in_f32)});
            row.resize(out.columns.size() - 2);
            row.push_back(known(report->passing_scale));
            row.push_back(known(report->scale_bound));
        }
        row.resize(out.columns.size());
    }
    return out;
}

}  // namespace engine
