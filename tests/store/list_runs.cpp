// Lists the runs of a store as JSON, one a line, for kill_test.py and damage_test.py; then the
// store's warnings. With --loop: lists over and over, silently, as a window does beside the
// trainer.
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/base/error.h"
#include "engine/record/step_record.h"
#include "engine/runs/run_store.h"

namespace {

using engine::RunStore;
using nlohmann::json;

/// Rows of the run's record; -1 if it cannot be read, -2 if a row is not the one that belongs
/// there.
std::int64_t rows_of(const engine::RunSummary& run) {
    try {
        const auto record = engine::StepRecordReader::open(run.folder);
        std::vector<double> steps(static_cast<std::size_t>(record.size()));
        record.column(&engine::StepRecord::step, 0, steps);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (steps[i] != static_cast<double>(i + 1)) return -2;
        }
        return std::ssize(steps);
    } catch (const engine::Error&) {
        return -1;
    }
}

void print(RunStore& store) {
    for (const auto& run : store.list()) {
        std::cout << json{{"run", run.run},
                          {"folder", run.folder.string()},
                          {"state", run.state},
                          {"steps", run.steps},
                          {"rows", rows_of(run)}}
                  << '\n';
    }
    for (const auto& warning : store.take_warnings()) {
        std::cout << json{{"warning", warning.str()}} << '\n';
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cerr << "usage: list_runs ROOT [--loop]\n";
        return 2;
    }
    try {
        const bool loop = argc > 2 && std::string(argv[2]) == "--loop";
        while (loop) {
            RunStore store(argv[1]);
            for (int i = 0; i < 20; ++i) (void)store.list();
        }
        RunStore store(argv[1]);
        print(store);
        return 0;
    } catch (const engine::Error& error) {
        std::cerr << error.what() << '\n';
        return engine::exit_code(error.code());
    }
}
