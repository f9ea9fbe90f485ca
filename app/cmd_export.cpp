#include <algorithm>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/io/named_file.h"
#include "engine/network/network_exports.h"
#include "engine/number/figure_text.h"
#include "engine/report/report.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/export.h"
#include "engine/runs/run_group.h"
#include "find_run.h"
#include "interruption.h"
#include "settings.h"
#ifdef HALFTONE_HAS_UI
#include "ui/report.h"
#endif

namespace app {
namespace {

struct ExportArguments {
    std::string run, format, file;
    std::string checkpoint = "last";
    std::string checkpoints;  ///< of a whole run
    std::string dtype = "fp32";
    std::vector<std::string> others;  ///< of a report
    bool raw = false;
    bool checkpoint_given() const { return checkpoint != "last"; }
};

std::string format_names(const std::string& between) {
    return engine::join(engine::export_formats(), between, &engine::ExportInfo::name) + between +
           "report.html" + between + "report.pdf";
}

[[noreturn]] void refuse_export(const std::string& message, const std::string& hint) {
    throw engine::Error(engine::ErrorCode::settings, message, hint);
}

bool is_report(const std::string& format) {
    return format == "report.html" || format == "report.pdf";
}

/// The report's name beside those of the other forms: "run-12.html".
std::string report_file_name(const engine::RunSummary& run, const std::string& format) {
    engine::ExportInfo info = engine::export_formats().front();
    info.ending = format.substr(format.find('.'));
    return engine::export_file_name(run, info);
}

/// Names the file that was written, but not among what was written to standard output.
void print_written(const std::string& file) {
    (engine::is_standard_output(file) ? std::cerr : std::cout) << engine::one_line(file) << '\n';
}

int export_report(const ExportArguments& args) {
    std::vector<engine::RunSummary> runs;
    std::vector<std::string> names = args.others;
    names.insert(names.begin(), args.run);
    for (const std::string& name : names) {
        const auto found = find_runs(name);
        if (found.empty()) return engine::exit_code(engine::ErrorCode::settings);
        for (const engine::RunSummary& each : found)
            if (auto run = engine::read_run_folder(each.folder, engine::keep_no_event)) {
                run->summary.run = each.run;
                runs.push_back(std::move(run->summary));
            }
    }
    const std::string file =
        args.file.empty() ? report_file_name(runs.front(), args.format) : args.file;
    const engine::Report report = engine::make_report(runs);
    if (args.format == "report.html") {
        engine::write_named_file(file, engine::report_html(report));
    } else {
#ifdef HALFTONE_HAS_UI
        ui::write_report_file(report, file);
#else
        refuse_export("--to: report.pdf: this program was built without the window, which writes PDF",
               "Use report.html, and print it to PDF in a browser.");
#endif
    }
    print_written(file);
    return 0;
}

/// Options that do not go with the format are mistakes.
const engine::ExportInfo& checked(const ExportArguments& args) {
    const engine::ExportInfo* info = engine::find_export(args.format);
    const bool is_of_text = std::ranges::find(engine::network_forms(), args.format, &engine::NetworkForm::name) != engine::network_forms().end();
    if (info == nullptr && is_of_text)
        refuse_export("--to: " + args.format + ": not a form of export of a run",
               "halftone network FILE --to " + args.format + " writes it from a network's text, which halftone export RUN --to network writes.");
    if (info == nullptr)
        refuse_export("--to: " + args.format + ": not a form of export",
               "Use one of " + format_names(", ") + ".");
    if (args.checkpoint_given() && !info->of_checkpoint)
        refuse_export("--checkpoint: " + info->name + " holds no weights", "Leave it away.");
    if (args.dtype != "fp32" && args.dtype != "fp16")
        refuse_export("--dtype: " + args.dtype + ": not a type of an exported model", "Use fp32 or fp16.");
    if (args.dtype != "fp32" && !info->takes_half)
        refuse_export("--dtype: " + info->name + " is written as it is", "Leave it away.");
    if (!args.checkpoints.empty() && !info->takes_checkpoints)
        refuse_export("--checkpoints: " + info->name + " holds no checkpoints", "Leave it away.");
    if (args.raw && !info->takes_raw)
        refuse_export("--raw: " + info->name + " is no CSV", "Leave it away.");
    return *info;
}

/// Without --checkpoints, none: they are nearly all of a run's bytes.
engine::PackedCheckpoints packed_checkpoints(const ExportArguments& args) {
    using enum engine::PackedCheckpoints;
    if (args.checkpoints.empty() || args.checkpoints == "none") return none;
    if (args.checkpoints == "best") return best;
    if (args.checkpoints == "all") return all;
    refuse_export("--checkpoints: " + args.checkpoints + ": not a choice of checkpoints",
                  "Use none, best or all.");
}

engine::ExportOptions export_options(const ExportArguments& args) {
    return {.checkpoint = args.checkpoint,
            .half = args.dtype == "fp16",
            .raw = args.raw,
            .checkpoints = packed_checkpoints(args)};
}

/// Says what stayed behind where nobody has chosen it.
void tell_of_checkpoints(const ExportArguments& args, const engine::ExportInfo& info,
                         const engine::GroupRuns& runs) {
    if (!info.takes_checkpoints || !args.checkpoints.empty()) return;
    std::int64_t bytes = 0;
    for (const auto& run : runs)
        for (const auto& checkpoint : engine::list_checkpoints(run.folder))
            bytes += checkpoint.bytes;
    if (bytes > 0)
        std::cerr << "halftone: without checkpoints (" << engine::bytes_text(bytes)
                  << "); --checkpoints best or all packs them, so that it can be continued\n";
}

/// All runs of a comparison or sweep: what has room for several.
void export_group(const engine::GroupRuns& runs, const engine::ExportInfo& info,
                  const ExportArguments& args) {
    const std::string file =
        args.file.empty() ? engine::group_name(runs.front().group_number) + info.ending : args.file;
    if (info.write_runs == nullptr)
        refuse_export("--to: " + info.name + " is of one run",
               "Name one run of " + engine::group_name(runs.front().group_number) +
                   ", or use run, csv, tensorboard, report.html or report.pdf.");
    info.write_runs(runs, file, export_options(args));
    tell_of_checkpoints(args, info, runs);
    print_written(file);
}

int export_one(const ExportArguments& args) {
    if (is_report(args.format)) return export_report(args);
    if (!args.others.empty()) refuse_export("--with: only a report is of several runs", "Leave it away.");
    const engine::ExportInfo& info = checked(args);
    if (const auto group = find_group(args.run); !group.empty()) {
        export_group(group, info, args);
        return 0;
    }
    const auto run = find_run(args.run);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    const std::string file =
        args.file.empty() ? engine::export_file_name(run->summary, info) : args.file;
    info.write(run->summary.folder, file, export_options(args));
    tell_of_checkpoints(args, info, {run->summary});
    print_written(file);
    return 0;
}

int import_one(const std::string& file) {
    const auto store = open_store();
    const auto made = with_progress("importing", [&] { return store->import_runs(file); });
    for (const auto& run : made)
        std::cout << "Imported as run " << run.run << ", kept in " << run.folder.string() << '\n';
    const auto first = store->find(made.front().run);
    if (made.size() > 1 && first && first->group_number > 0)
        std::cout << engine::group_title(*first).str() << " ("
                  << engine::group_name(first->group_number) << "): " << made.size() << " runs\n";
    return 0;
}

}  // namespace

void describe_export(Command command) {
    auto args = std::make_shared<ExportArguments>();
    command
        .text("RUN", args->run,
              "A run of the history (its number or title), its folder, or a comparison or sweep "
              "(g3): all of its runs")
        .required()
        .not_empty();
    static const std::string to_help = "The form: " + format_names(", ");
    command.text("--to", args->format, to_help.c_str()).required().not_empty().takes(format_names("|"));
    command
        .text("--checkpoint", args->checkpoint,
              "Checkpoint of the weights: last (the default), best, or a number of steps")
        .not_empty().takes("last|best|STEP");
    command
        .text("--checkpoints", args->checkpoints,
              "Checkpoints in the file of a whole run: none (the default), best or all")
        .not_empty().takes("none|best|all");
    command.text("--dtype", args->dtype, "Type of an ONNX model: fp32 (the default) or fp16")
        .not_empty().takes("fp32|fp16");
    command.flag("--raw", args->raw,
                 "CSV: texts as they are; without it, one that a spreadsheet would compute gets an "
                 "apostrophe");
    command.repeated_text("--with", args->others, "For a report: another run, to compare with RUN").takes("RUN");
    command
        .text("-o,--output", args->file,
              "File to write, for tensorboard a folder; without one, named after the run, here")
        .not_empty().takes("FILE");
    command.run([args] { return with_progress("exporting", [&] { return export_one(*args); }); });
}

void describe_import(Command command) {
    auto file = std::make_shared<std::string>();
    command
        .text("FILE", *file,
              "A file that halftone export --to run wrote, a folder with event files of "
              "TensorBoard, or a CSV file with a row for each step")
        .required()
        .not_empty();
    command.run([file] { return import_one(*file); });
}

}  // namespace app
