#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "done_of.h"
#include "engine/base/error.h"
#include "engine/runs/run_store.h"
#include "runs/run_index.h"
#include "support/part_figures.h"

namespace engine {

/// A store of three runs that ended normally.
inline void make_history(const std::filesystem::path& root) {
    RunStore store(root);
    for (int i = 0; i < 3; ++i) {
        const auto run = store.create({});
        store.append(EpochDone{run.run, 1, 20, classified(0.6, 0.7), {}, classified(0.5, 0.8), 1});
        store.append(done_of(run.run));
    }
}

inline void change_index(const std::filesystem::path& root, const char* sql) {
    Database database(root / "runs.db");
    database.run(sql);
}

/// The text of an error that the user reads.
inline std::string index_error(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.message().str() + " " + error.hint().str();
    }
    return {};
}

}  // namespace engine
