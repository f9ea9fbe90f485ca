#pragma once

#include <filesystem>
#include <stop_token>
#include <vector>

#include "data/data_fingerprint.h"
#include "data/loader/collator.h"
#include "engine/train/session_options.h"
#include "parallel/communicator.h"

namespace engine {

/// Samples of the three parts and files, as they are now. Reads dataset.order, if there is one.
DataFingerprint make_fingerprint(const DataParts& data, const DatasetConfig& config,
                                 const std::stop_token& stop = {});

/// Writes what describes the data of the run: inputs.json and data.jsonl.
void keep_run_data(const std::filesystem::path& run_folder, const DataParts& data,
                   const DataFingerprint& fingerprint);

/// A run's data set, opened again.
struct RunData {
    DataParts parts;
    DataFingerprint fingerprint;
    std::vector<Message> notes{};  ///< what differs, for the user
    bool same_size = true;         ///< as many samples in each part as the run had
};

/// Opens the data set of `config`, which must be that of the run in `run_folder`: the only way to
/// open it again. Compares schema, columns, classes, samples and files with what the run kept, and
/// reads contents only where a file's size or time changed. Other contents are read by the run's
/// own vocabulary, class names and normalisation.
///
/// Throws Error(data), which says what differs and what to do, for other columns or classes, and
/// unless `accept` ChangedData for other numbers of samples, and for other contents if the use needs
/// the same bits. A step that is computed again accepts nothing. Also what open_dataset() throws.
RunData open_run_data(const std::filesystem::path& run_folder, const RunConfig& config, DataUse use,
                      bool accept, const std::stop_token& stop = {});

/// Opens the data set of the run that these options begin or go on. Within an epoch a run cannot go
/// on with another number of samples, so that choice is not offered there.
RunData open_data(const RunConfig& config, const SessionOptions& options,
                  const std::stop_token& stop);

/// Throws Error if the sizes, the fields or the first batch of the training part differ between the
/// ranks.
void check_same_data(Communicator& ranks, const DataParts& data, const LoaderOptions& options);

}  // namespace engine
