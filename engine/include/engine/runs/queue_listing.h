#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "engine/base/message.h"
#include "engine/runs/run_queue.h"

namespace engine {

/// Why a job is where it is, in a sentence; may be empty.
Message job_sentence(const QueuedRun& run);
/// The file with what a job has printed; empty without a job.
std::filesystem::path job_output(const QueuedRun& run);

/// The queue for a terminal, a line a run.
std::string queue_table(std::span<const QueuedRun> queue);
/// A run of the queue as one JSON object, a line without a newline.
std::string to_json_line(const QueuedRun& run);

}  // namespace engine
