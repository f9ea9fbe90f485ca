#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/instruments/capsule.h"

namespace app {
namespace {

struct ReplayArguments {
    std::string file;
    std::string device;
    std::string to;
    std::string out;
    bool json = false;
};

/// Fails if the bits differ on the same machine, or if the difference exceeds the bound on another
/// one.
int replay(const ReplayArguments& args) {
    if (!args.to.empty() || !args.out.empty()) {
        if (args.to != "pytorch" || args.out.empty())
            throw engine::Error(engine::ErrorCode::settings,
                                "replay: a script is written with --to pytorch -o FILE");
        engine::write_pytorch_script(args.file, args.out);
        std::cout << args.out << '\n';
        return 0;
    }
    engine::SkipOptions options;
    options.device = args.device;
    const engine::CapsuleReplay replay = engine::replay_capsule(args.file, options);
    std::cout << (args.json ? engine::to_json_line(replay) + "\n" : engine::replay_page(replay));
    const bool good = replay.same_machine ? replay.identical() : replay.within_bound();
    return good ? 0 : engine::exit_code(engine::ErrorCode::data);
}

}  // namespace

void describe_replay(Command command) {
    auto args = std::make_shared<ReplayArguments>();
    command.text("CAPSULE", args->file, "A file that skips RUN STEP --capsule wrote")
        .required()
        .not_empty();
    command.text("--device", args->device, "auto, cpu, cuda or cuda:N; by default the capsule's")
        .not_empty().takes("auto|cpu|cuda");
    command.text("--to", args->to, "pytorch: write a PyTorch script that computes the step")
        .not_empty().takes("pytorch");
    command.text("-o,--output", args->out, "The script's file").not_empty().takes("FILE");
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return replay(*args); });
}

}  // namespace app
