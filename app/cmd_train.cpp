#include "commands.h"
#include "notify.h"
#include "ranks.h"
#include "settings.h"

namespace app {
namespace {

struct TrainArguments {
    std::string config;
    std::vector<std::string> overrides;
    std::string out;
    std::string dump_gradients;
    std::string group;
    std::string notify;
    bool json = false;
};

int train(const TrainArguments& args) {
    return with_ranks([&] { return read_settings(args.config, args.overrides); },
                      [&](const engine::RunConfig& config, const auto& line) {
                          engine::SessionOptions options;
                          options.folder = args.out;
                          options.dump_gradients = args.dump_gradients;
                          options.group = args.group;
                          options.communicator = line;
                          return train_as_rank(config, options, args.json, args.notify);
                      });
}

}  // namespace

void describe_train(Command command) {
    auto args = std::make_shared<TrainArguments>();
    command.text("CONFIG", args->config, "Settings, a JSON file or the name of saved settings; without one, the defaults")
        .not_empty();
    command.repeated_text("--set", args->overrides, "path=value, for instance optimizer.lr=0.01").takes("PATH=VALUE");
    command
        .text("--out", args->out, "Folder of the run; without one, a new folder in the run history")
        .not_empty().takes("FOLDER");
    command
        .text(
            "--dump-gradients", args->dump_gradients,
            "Write the loss and the unscaled gradients of the first step to this safetensors file")
        .not_empty().takes("FILE");
    command
        .text("--group", args->group,
              "The comparison or sweep that the run belongs to: any word, the same for all of its "
              "runs")
        .not_empty().takes("NAME");
    describe_notify(command, args->notify);
    command.flag("--json", args->json, "One JSON object per line on standard output");
    command.run([args] { return train(*args); });
}

}  // namespace app
