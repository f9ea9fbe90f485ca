#pragma once

#include <QDateTime>
#include <QString>
#include <QStringList>
#include <vector>

#include "engine/instruments/speedup.h"

namespace ui {

/// Settings that can be measured in FP32 and in other precisions.
struct BenchmarkEntry {
    engine::RunConfig settings;  ///< as engine::speed_settings() returns them
    bool ofRun = false;          ///< added for a run; the others are the engine's list
    bool chosen = false;
};

/// A measurement in one precision.
struct BenchmarkResult {
    engine::RunConfig settings;  ///< of the entry
    engine::Speedup row;
    QString machine;  ///< name of the processor or of the card
    QDateTime when;
};

/// Entries that the page Benchmarks stores between starts of the program.
struct BenchmarkBook {
    std::vector<BenchmarkEntry> entries;
    QStringList precisions;                ///< presets that are chosen
    bool findsBatches = true;              ///< searches the largest batches, too
    QString memory;                        ///< their limit as the user wrote it: "1 GB"
    std::vector<BenchmarkResult> results;  ///< at most one for settings and precision
};

/// The engine's list with a few models chosen, and no results.
BenchmarkBook newBenchmarkBook();
/// The results of a book in the order of its entries, for each entry in the engine's order of the
/// precisions. Results without an entry come last.
std::vector<BenchmarkResult> orderedResults(const BenchmarkBook& book);
/// The engine's list and the contents of the file. Entries and results that cannot be read are left
/// out. A missing or damaged file gives a new book.
BenchmarkBook readBenchmarkBook(const QString& file);
/// False if the file cannot be written.
bool writeBenchmarkBook(const BenchmarkBook& book, const QString& file);

}  // namespace ui
