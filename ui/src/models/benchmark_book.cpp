#include "models/benchmark_book.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <algorithm>
#include <optional>
#include <utility>

#include "engine/settings/catalog.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

QByteArray compact(const QJsonValue& value) {
    return QJsonDocument(value.toObject()).toJson(QJsonDocument::Compact);
}

QJsonObject objectOf(const std::string& json) {
    return QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
}

std::optional<engine::RunConfig> settingsOf(const QJsonValue& value) {
    if (!value.isObject()) return std::nullopt;
    const auto parsed = engine::parse_run_config(compact(value).toStdString());
    if (!parsed.errors.empty()) return std::nullopt;
    return engine::speed_settings(parsed.config);
}

std::optional<BenchmarkResult> resultOf(const QJsonObject& object) {
    const auto settings = settingsOf(object[u"settings"]);
    const auto row = engine::parse_speedup(compact(object[u"figures"]).toStdString());
    if (!settings || !row) return std::nullopt;
    return BenchmarkResult{*settings, *row, object[u"machine"].toString(),
                           QDateTime::fromString(object[u"measured"].toString(), Qt::ISODate)};
}

/// An entry of the engine's list is not added again.
void take(BenchmarkBook& book, const BenchmarkEntry& entry) {
    const auto known = std::ranges::find_if(
        book.entries, [&](const BenchmarkEntry& each) { return each.settings == entry.settings; });
    if (known == book.entries.end()) {
        if (entry.ofRun) book.entries.push_back(entry);
    } else {
        known->chosen = entry.chosen;
    }
}

}  // namespace

BenchmarkBook newBenchmarkBook() {
    BenchmarkBook book;
    for (const engine::RunConfig& config : engine::speedup_settings()) {
        const bool chosen =
            engine::find_kind(engine::models(), config.model.kind)->benchmark.chosen;
        book.entries.push_back({engine::speed_settings(config), false, chosen});
    }
    for (const std::string& preset : engine::amp_precisions())
        book.precisions << QString::fromStdString(preset);
    book.memory = u"1 GB"_s;
    return book;
}

std::vector<BenchmarkResult> orderedResults(const BenchmarkBook& book) {
    const auto presets = engine::precisions();
    const auto place = [&](const BenchmarkResult& result) {
        const auto entry =
            std::ranges::find(book.entries, result.settings, &BenchmarkEntry::settings);
        const auto preset =
            std::ranges::find(presets, result.row.precision, &engine::PrecisionDescriptor::kind);
        return std::pair(entry - book.entries.begin(), preset - presets.begin());
    };
    std::vector<BenchmarkResult> results = book.results;
    std::ranges::stable_sort(results, {}, place);
    return results;
}

BenchmarkBook readBenchmarkBook(const QString& file) {
    BenchmarkBook book = newBenchmarkBook();
    QFile in(file);
    constexpr qint64 longest = 16 << 20;
    if (!in.open(QIODevice::ReadOnly) || in.size() > longest) return book;
    const QJsonObject kept = QJsonDocument::fromJson(in.readAll()).object();
    if (kept.isEmpty()) return book;
    book.precisions.clear();
    for (const auto& preset : kept[u"precisions"].toArray()) book.precisions << preset.toString();
    book.findsBatches = kept[u"find_batches"].toBool(book.findsBatches);
    book.memory = kept[u"memory"].toString(book.memory);
    for (const auto& value : kept[u"entries"].toArray()) {
        const QJsonObject entry = value.toObject();
        if (const auto settings = settingsOf(entry[u"settings"]))
            take(book, {*settings, entry[u"of_run"].toBool(), entry[u"chosen"].toBool()});
    }
    for (const auto& value : kept[u"results"].toArray()) {
        if (const auto result = resultOf(value.toObject())) book.results.push_back(*result);
    }
    return book;
}

bool writeBenchmarkBook(const BenchmarkBook& book, const QString& file) {
    QJsonArray entries, results;
    for (const BenchmarkEntry& entry : book.entries) {
        entries.append(QJsonObject{{u"settings"_s, objectOf(engine::to_json(entry.settings))},
                                   {u"of_run"_s, entry.ofRun},
                                   {u"chosen"_s, entry.chosen}});
    }
    for (const BenchmarkResult& result : book.results) {
        results.append(QJsonObject{{u"settings"_s, objectOf(engine::to_json(result.settings))},
                                   {u"figures"_s, objectOf(engine::to_json(result.row))},
                                   {u"machine"_s, result.machine},
                                   {u"measured"_s, result.when.toString(Qt::ISODate)}});
    }
    const QJsonObject kept{{u"entries"_s, entries},
                           {u"precisions"_s, QJsonArray::fromStringList(book.precisions)},
                           {u"find_batches"_s, book.findsBatches},
                           {u"memory"_s, book.memory},
                           {u"results"_s, results}};
    QDir().mkpath(QFileInfo(file).path());
    QSaveFile out(file);
    return out.open(QIODevice::WriteOnly) && out.write(QJsonDocument(kept).toJson()) >= 0 &&
           out.commit();
}

}  // namespace ui
