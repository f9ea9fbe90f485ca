#include "commands.h"
#include "engine/error.h"
#include "engine/session.h"
#include "follow.h"
#include "settings.h"

namespace app {
namespace {

struct TrainArguments {
    std::string config;
    std::vector<std::string> overrides;
    std::string out;
    std::string dump_gradients;
    bool json = false;
};

int train(const TrainArguments& args) {
    const auto config = read_settings(args.config, args.overrides);
    if (!config) return engine::exit_code(engine::ErrorCode::settings);
    const auto thread = std::make_shared<engine::ComputeThread>();
    engine::Session session(*config, thread, open_store(),
                            {.folder = args.out, .dump_gradients = args.dump_gradients});
    session.post(engine::Command::start);
    return follow({{config->precision.preset, &session}}, args.json).front().exit_code;
}

}  // namespace

void add_train(CLI::App& cli, int* exit_code) {
    auto args = std::make_shared<TrainArguments>();
    auto* command = cli.add_subcommand("train", "One run");
    command->add_option("CONFIG", args->config, "Settings, a JSON file; without one, the defaults")
        ->check(not_empty());
    command->add_option("--set", args->overrides, "path=value, for instance optimizer.lr=0.01")
        ->allow_extra_args(false)
        ->take_all();
    command
        ->add_option("--out", args->out,
                     "Folder of the run; without one, a new folder in the run history")
        ->check(not_empty());
    command
        ->add_option(
            "--dump-gradients", args->dump_gradients,
            "Write the loss and the unscaled gradients of the first step to this safetensors file")
        ->check(not_empty());
    command->add_flag("--json", args->json, "One JSON object a line on standard output");
    command->callback([args, exit_code] { *exit_code = train(*args); });
}

}  // namespace app
