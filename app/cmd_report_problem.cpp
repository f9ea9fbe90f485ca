#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/report/problem_report.h"
#include "find_run.h"

namespace app {
namespace {

struct ProblemArguments {
    std::string run, file = "halftone-problem.zip";
    bool show = false;  ///< prints the texts instead of writing them
};

int report_problem(const ProblemArguments& args) {
    engine::ProblemFacts facts;
    if (!args.run.empty()) {
        const auto run = find_run(args.run);
        if (!run) return engine::exit_code(engine::ErrorCode::settings);
        facts.run_folder = run->summary.folder;
    }
    const auto files = engine::problem_report(facts);
    for (const auto& file : files) {
        if (args.show)
            std::cout << "== " << file.name << " ==\n" << engine::printable(file.text) << '\n';
        else
            std::cout << "  " << file.name << ", " << file.text.size() << " bytes\n";
    }
    if (args.show) return 0;
    engine::write_problem_report(files, args.file);
    std::cout << engine::one_line(args.file)
              << ": look through it before you send it. It holds no data, and no path of your home "
                 "folder.\n";
    return 0;
}

}  // namespace

void describe_report_problem(Command command) {
    auto args = std::make_shared<ProblemArguments>();
    command.text("RUN", args->run, "The run that it is about: its number, title or folder")
        .not_empty();
    command.flag("--show", args->show, "Prints what the archive would hold, and writes none");
    command.text("-o,--output", args->file, "File to write; without one halftone-problem.zip, here")
        .not_empty()
        .takes("FILE");
    command.run([args] { return report_problem(*args); });
}

}  // namespace app
