#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "data/clicks/click_schema.h"
#include "data/clicks/criteo_reader.h"
#include "data/data_files.h"
#include "data/dataset.h"
#include "data/dataset_descriptor.h"
#include "data/input_guide.h"
#include "engine/base/error.h"

namespace engine {
namespace {

/// Rows of Criteo's click logs (criteo_reader.h), in memory.
class CriteoDataset final : public Dataset {
public:
    CriteoDataset(std::vector<CriteoRow> rows, std::int64_t table_rows);

    std::int64_t size() const override { return static_cast<std::int64_t>(rows_.size()); }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override;
    void guide(InputGuide& guide) const override;

private:
    std::vector<CriteoRow> rows_;
    Schema schema_;
};

std::vector<std::string> number_names() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < CriteoRow::numbers; ++i)
        names.push_back("I" + std::to_string(i + 1));
    return names;
}

std::vector<OptionSpec> options() {
    return {
        option("max_rows", "Rows of a table", std::int64_t{100000},
               "Rows of each embedding table: Criteo's categories are taken modulo this number.",
               opt::between(1, 100000000), opt::prominent),
        option("test_share", "Test share", 0.1,
               "Share of the rows that is held out as the test part: the latest ones.",
               opt::from_to_below(0, 1))};
}

constexpr const char* criteo_files = "train.txt (Kaggle's challenge), or day_0 to day_23 (1 TB)";
constexpr const char* criteo_page = "https://ailab.criteo.com/ressources/";

[[noreturn]] void refuse_missing_clicks(Message message) {
    throw Error(ErrorCode::data, std::move(message),
                msg("Set dataset.path to a file of Criteo's click logs: {}. The official page is "
                    "{}.",
                    criteo_files, criteo_page));
}

std::vector<CriteoRow> read_rows(const DatasetConfig& config, std::int64_t table_rows,
                                 const std::stop_token& stop) {
    if (config.path.empty()) refuse_missing_clicks(msg("{}: no path is given", "Criteo"));
    for (const auto& path : config.path) {
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored))
            refuse_missing_clicks(msg("{}: no such file", path));
        if (std::filesystem::is_directory(path, ignored))
            refuse_missing_clicks(msg("{}: a folder, not a file", path));
    }
    const std::int64_t most =
        largest_dataset_bytes() / static_cast<std::int64_t>(sizeof(CriteoRow));
    std::vector<CriteoRow> rows;
    for (const auto& path : config.path) {
        read_criteo(path, table_rows, {.stop = stop}, [&](const CriteoRow& row) {
            if (static_cast<std::int64_t>(rows.size()) == most) {
                throw Error(ErrorCode::data,
                            msg("{}: more than the {} rows that fit into memory", path, most),
                            msg("Use part of the file."));
            }
            rows.push_back(row);
            return true;
        });
    }
    if (rows.size() < 2)
        throw Error(ErrorCode::data, msg("{}: fewer than two rows", config.path.front()));
    return rows;
}

std::shared_ptr<const std::vector<std::int64_t>> range(std::int64_t first, std::int64_t count) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), first);
    return std::make_shared<const std::vector<std::int64_t>>(std::move(rows));
}

DataParts open_criteo(const DatasetConfig& config, std::int64_t, const std::stop_token& stop) {
    const auto specs = options();
    const TypedOptions given(config.options, specs);
    const std::int64_t table_rows = given.integer("max_rows");
    const auto data =
        std::make_shared<const CriteoDataset>(read_rows(config, table_rows, stop), table_rows);
    const std::int64_t all = data->size();
    const std::int64_t test = std::min<std::int64_t>(
        all - 1, std::llround(given.number("test_share") * static_cast<double>(all)));
    return {.train = {data, range(0, limited(all - test, config.train_limit))},
            .validation = {},
            .test = {data, range(all - test, limited(test, config.test_limit))}};
}

/// The first line, if it is one of Criteo's.
bool looks_like_criteo(const std::filesystem::path& path) {
    try {
        bool found = false;
        read_criteo(path, 1, {}, [&](const CriteoRow&) {
            found = true;
            return false;
        });
        return found;
    } catch (const Error&) {
        return false;
    }
}

CriteoDataset::CriteoDataset(std::vector<CriteoRow> rows, std::int64_t table_rows)
    : rows_(std::move(rows)), schema_(click_schema(number_names(), CriteoRow::ids, table_rows)) {}

void CriteoDataset::read(std::int64_t index, const SampleFields& out) const {
    const CriteoRow& row = rows_[static_cast<std::size_t>(index)];
    std::copy_n(row.dense.begin(), out.f32(1).size(), out.f32(1).begin());
    std::copy_n(row.id.begin(), out.i64(0).size(), out.i64(0).begin());
    if (const auto label = out.i64(2); !label.empty()) label[0] = row.label;
}

void CriteoDataset::guide(InputGuide& guide) const {
    const auto names = number_names();
    for (std::size_t i = 0; i < names.size(); ++i)
        guide.columns.push_back({.name = names[i], .offset = i, .counted = true, .place = 1 + i});
    for (std::size_t i = 0; i < CriteoRow::ids; ++i) {
        guide.columns.push_back({.name = "C" + std::to_string(i + 1),
                                 .offset = i,
                                 .id = GuideColumn::Id::criteo,
                                 .place = 1 + names.size() + i});
    }
    guide.table_columns = 1 + names.size() + CriteoRow::ids;  // behind the label
    guide.header = false;
}

}  // namespace

DatasetDescriptor criteo_descriptor() {
    return {.kind = "criteo",
            .title = "Criteo clicks",
            .summary = "Clicks on advertisements: 13 numbers and 26 categories a row.",
            .needs =
                "A file of Criteo's click logs (train.txt, day_0), plain, .gz or .xz; several "
                "as a list.",
            .files = criteo_files,
            .page = criteo_page,
            .unit = "rows",
            .options = options(),
            .schema =
                [](const DatasetConfig& config) {
                    const auto specs = options();
                    return click_schema(number_names(), CriteoRow::ids,
                                        TypedOptions(config.options, specs).integer("max_rows"));
                },
            .open = open_criteo,
            .recognise = looks_like_criteo};
}

}  // namespace engine
