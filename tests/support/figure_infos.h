#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "engine/record/step_record.h"

namespace engine {

/// A figure as the handbook lists it.
struct FigureInfo {
    std::string_view key;    ///< in JSON, CSV and settings files; may be the name of a record column
    std::string_view title;  ///< on screen, in English
    std::string_view unit;   ///< may be empty
    std::string_view definition;
    std::string_view owner;  ///< who computes it, as FILE or FILE: NAME below engine/include/engine
};

namespace figure_tables {

inline constexpr char by_key_figures[] = "figures.h: key_figures";
inline constexpr char in_done[] = "event.h: RunDone";
inline constexpr char in_start[] = "event.h: RunStarted";
inline constexpr char by_comparison[] = "comparison.h: compare_runs";
inline constexpr char by_speeds[] = "speed.h: speeds";
inline constexpr char by_outcome[] = "exponent_histogram.h: outcome";
inline constexpr char in_trace[] = "xray.h: XrayOp";
inline constexpr char in_twin[] = "twin.h: TwinDigest";

inline constexpr FigureInfo run_figures[] = {
    {"steps", "steps", "", "Optimizer steps tried, skipped ones included.", by_key_figures},
    {"updates", "updates", "", "Steps whose update was applied.", by_key_figures},
    {"skipped", "skipped", "", "Steps minus updates.", by_key_figures},
    {"samples", "samples", "samples", "Training samples seen so far.", by_key_figures},
    {"epochs", "epochs", "", "Completed passes over the training data.", by_key_figures},
    {"last_loss", "loss at the last step", "", "Mean over the batch of the last step, unscaled.",
     by_key_figures},
    {"loss_last_20", "loss, last 20", "",
     "Mean of the training loss over the last 20 steps, fewer at the start. Losses that are not "
     "finite are left out; if the last one is not, it is the figure.",
     by_key_figures},
    {"test_loss", "test loss", "", "Loss on the test part at the last evaluation.", by_key_figures},
    {"test_metric", "test metric", "",
     "Primary metric of the task on the test part at the last evaluation, shown under its own "
     "name: test accuracy, test RMSE, test perplexity.",
     by_key_figures},
    {"validation_loss", "validation loss", "",
     "Loss on the validation part at the last evaluation.", by_key_figures},
    {"scale_now", "scale now", "",
     "The loss scale that the next step uses: after a skip the lowered one.", by_key_figures},
    {"headroom_bits", "headroom", "bits",
     "log2 of the last step's max safe scale by the scale now; below 0 counts as 0.",
     by_key_figures},
    {"growths", "growths", "", "How often the loss scale grew.", by_key_figures},
    {"wall_s", "training time", "s",
     "Time in steps over all parts of the run, without evaluations and other runs' turns.",
     by_key_figures},
    {"ms_per_step", "mean time per step", "ms",
     "Training time by steps, stalls included. X-ray's fastest step is another figure.",
     by_key_figures},
    {"samples_per_s", "mean speed", "samples/s",
     "Samples by training time, over all parts of the run, stalls included. Cards and status line "
     "name it by its unit. The plot of that unit shows single steps.",
     by_key_figures},
    {"peak_bytes", "peak memory", "bytes",
     "Most memory in use at any time of the whole run up to the last step, over all parts of it.",
     by_key_figures},
    {"disk_bytes", "size on disk", "bytes",
     "What the files of the run's folder occupy, checkpoints included.", "disk_use.h: disk_bytes"},
    {"diverged_at", "diverged at step", "",
     "The step from which the loss was NaN or infinite to the end.", in_done},
    {"replaced_samples", "damaged samples replaced", "",
     "Samples that could not be read, whose place the next one of the order took.", in_done},
    {"parameters", "parameters", "", "Parameter count of the model.", in_start},
    {"train_samples", "training samples", "samples", "Size of the training part.", in_start},
    {"test_samples", "test samples", "samples", "Size of the test part.", in_start},
};

/// Figures of two runs, and of the instruments.
inline constexpr FigureInfo other_figures[] = {
    {"best_test_loss", "best loss", "",
     "Lowest test loss of all evaluations; mean and spread over seeds.", by_comparison},
    {"last_test_loss", "last loss", "",
     "Test loss of the last evaluation; mean and spread over seeds.", by_comparison},
    {"best_test_metric", "best metric", "",
     "Best test metric of all evaluations; mean and spread over seeds.", by_comparison},
    {"last_test_metric", "last metric", "",
     "Test metric of the last evaluation; mean and spread over seeds.", by_comparison},
    {"speed_up", "speed-up in turns", "×",
     "Typical speed over the steps that all runs have and took turns in, by that of the first "
     "precision. Unknown for runs that did not take turns.",
     by_comparison},
    {"speed_in_turns", "typical speed", "samples/s",
     "That of the mean of the middle half of the step times, over the newest 512 steps that both "
     "runs have: what a verdict compares. Its evidence names the steps.",
     by_speeds},
    {"speed_ratio", "speed ratio, step by step", "×",
     "Ratio over blocks of steps that were measured in turns, with its 95 % interval.",
     "verdict.h: judge"},
    {"loss_gap", "losses apart", "",
     "Mean difference of the losses of two runs, step by step, over the last quarter of the steps "
     "that both have.",
     "verdict.h: judge"},
    {"twin_gap", "gap", "",
     "Twin: the second run's loss minus the reference's, mean of the last 20 steps. Where all of "
     "these are finite, the difference of both runs' `loss_last_20`.",
     "figures.h: loss_last_20"},
    {"twin_noise", "noise of the mean", "",
     "Twin: two standard errors of that mean, over seeds where other pairs ran, else over its "
     "steps.",
     "figures.h: loss_last_20"},
    {"error", "error", "%",
     "Twin: norm of the difference of a layer's gradients in both runs, by the reference's norm.",
     in_twin},
    {"angle_degrees", "angle", "°", "Twin: angle between a layer's gradients in both runs.",
     in_twin},
    {"rounding", "rounding", "%",
     "Twin: that error in the first step after the start or a resync, where the weights were the "
     "same.",
     in_twin},
    {"diverged_step", "diverged", "",
     "Twin: the first of five steps in a row in which that error was above 10 %.", in_twin},

    {"values_zero", "zero", "%",
     "Microscope: share of a layer's values that are 0 or round to 0 in the chosen format at that "
     "scale.",
     by_outcome},
    {"values_subnormal", "subnormal", "%", "Microscope: share of them that keep fewer digits.",
     by_outcome},
    {"values_normal", "normal", "%", "Microscope: share of them that keep all digits.",
     by_outcome},
    {"values_overflow", "overflow", "", "Microscope: how many of them become infinite.",
     by_outcome},
    {"headroom_up", "headroom ↑", "bits",
     "Microscope: how often that scale may double before one of them overflows.",
     "exponent_histogram.h: headroom_up"},
    {"headroom_down", "headroom ↓", "bits",
     "Microscope: how often it may halve before more than 0.1 % of them are lost.",
     "exponent_histogram.h: headroom_down"},

    {"untraced_ms", "fastest step", "ms",
     "X-ray: time of the step when it is computed again without a trace, the fastest of three.",
     "xray.h: Xray"},
    {"time_by_type", "time by type", "%", "X-ray: share of the traced time by type of arithmetic.",
     "xray.h: totals_by_dtype"},
    {"casts_inserted", "casts inserted", "", "X-ray: conversions that autocast made in the step.",
     in_trace},
    {"kept_in_fp32", "kept in FP32", "",
     "X-ray: operations that autocast's FP32 list kept in FP32, and their time.", in_trace},
    {"arithmetic", "arithmetic", "GFLOP/s",
     "X-ray: arithmetic of the step by its traced time, beside what a product reaches here.",
     in_trace},
    {"casts", "casts", "", "X-ray: conversions before that operation.", in_trace},
    {"us", "µs", "µs", "X-ray: time of that operation.", in_trace},
    {"peak_share", "of peak", "%",
     "X-ray: its arithmetic by its time, by what a product reaches here.", in_trace},
    {"bytes_written", "output", "bytes", "X-ray: size of what it wrote.", in_trace},
};

}  // namespace figure_tables

/// All figures that the program shows for a run or for two, as figures.md lists them.
inline std::span<const FigureInfo> figure_infos() {
    using namespace figure_tables;
    static const auto all = [] {
        std::vector<FigureInfo> out(std::begin(run_figures), std::end(run_figures));
        for_each_column([&](const StepColumn& column, auto) {
            if (!column.title.empty())
                out.push_back({column.name, column.title, column.unit, column.definition,
                               "step_record.h: StepRecord"});
        });
        out.insert(out.end(), std::begin(other_figures), std::end(other_figures));
        return out;
    }();
    return all;
}

/// Null if there is none of that key.
inline const FigureInfo* find_figure(std::string_view key) {
    const auto all = figure_infos();
    const auto found = std::ranges::find(all, key, &FigureInfo::key);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace engine
