#include "data/clicks/clicks_generated_dataset.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "data/clicks/click_schema.h"
#include "data/dataset_descriptor.h"
#include "data/input_guide.h"

namespace engine {
namespace {

constexpr std::size_t numbers = ClicksGeneratedDataset::numbers;
constexpr std::int64_t teacher_seed = 0;
constexpr double bias = -1.3, number_weight = 0.3, own_range = 3, pair_range = 1.5;
constexpr std::size_t pair_width = 3;

std::vector<std::string> generated_names() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < numbers; ++i) names.push_back("x" + std::to_string(i + 1));
    return names;
}

double between(double range, std::uint32_t word) { return range * (word * 0x1p-31 - 1); }

/// The teacher's parameters of an id.
struct Trait {
    double own;
    std::array<double, pair_width> pair;
};

Trait trait_of(std::uint32_t table, std::int64_t id) {
    const RandomStream random(teacher_seed, StreamId::clicks_teacher, table);
    const PhiloxBlock words = random.block(static_cast<std::uint64_t>(id));
    Trait trait{between(own_range, words[0]), {}};
    for (std::size_t k = 0; k < pair_width; ++k) trait.pair[k] = between(pair_range, words[k + 1]);
    return trait;
}

std::vector<OptionSpec> generated_options() {
    return {option("tables", "Tables", std::int64_t{8},
                   "Ids in a sample of generated clicks, each from its own table.",
                   opt::between(1, 1000)),
            option("table_rows", "Rows of a table", std::int64_t{1000},
                   "Number of ids in each table of generated clicks; low ids are more frequent.",
                   opt::between(1, 100000000))};
}

struct Sizes {
    std::int64_t tables, rows;
    explicit Sizes(const DatasetConfig& config) {
        const auto specs = generated_options();
        const TypedOptions given(config.options, specs);
        tables = given.integer("tables");
        rows = given.integer("table_rows");
    }
};

DataParts open_clicks(const DatasetConfig& config, std::int64_t seed, const std::stop_token&) {
    const Sizes sizes(config);
    const auto part = [&](StreamId stream, std::int64_t size, std::int64_t limit) {
        return DataPart{std::make_shared<ClicksGeneratedDataset>(seed, stream, limited(size, limit),
                                                                 sizes.tables, sizes.rows)};
    };
    return {
        .train =
            part(StreamId::clicks_train, ClicksGeneratedDataset::train_size, config.train_limit),
        .validation = {},
        .test = part(StreamId::clicks_test, ClicksGeneratedDataset::test_size, config.test_limit)};
}

}  // namespace

struct ClicksGeneratedDataset::Sample {
    std::array<double, numbers> x;
    std::vector<std::int64_t> ids;
    double decision;  // uniform in [0, 1)
};

ClicksGeneratedDataset::ClicksGeneratedDataset(std::int64_t seed, StreamId stream,
                                               std::int64_t size, std::int64_t tables,
                                               std::int64_t rows)
    : schema_(click_schema(generated_names(), tables, rows)),
      seed_(seed),
      size_(size),
      tables_(tables),
      rows_(rows),
      stream_(stream) {}

ClicksGeneratedDataset::Sample ClicksGeneratedDataset::sample(std::int64_t index) const {
    const RandomStream random(seed_, stream_, static_cast<std::uint32_t>(index));
    Sample out{};
    for (std::size_t i = 0; i < numbers; i += 2) {
        const PhiloxBlock words = random.block(i / 4);
        const auto pair = RandomStream::to_normals(words[i % 4], words[i % 4 + 1]);
        out.x[i] = pair[0];
        if (i + 1 < numbers) out.x[i + 1] = pair[1];
    }
    constexpr std::uint64_t first_block = numbers / 4 + 1;
    out.decision = random.block(first_block)[0] * 0x1p-32;
    out.ids.resize(static_cast<std::size_t>(tables_));
    for (std::size_t t = 0; t < out.ids.size(); ++t) {
        const double u = random.block(first_block + 1 + t / 4)[t % 4] * 0x1p-32;
        out.ids[t] =
            std::min(rows_ - 1, static_cast<std::int64_t>(static_cast<double>(rows_) * u * u * u));
    }
    return out;
}

double ClicksGeneratedDataset::logit(const Sample& sample) const {
    double logit = bias, ids = 0;
    for (std::size_t j = 0; j < numbers; ++j)
        logit += number_weight * std::cos(static_cast<double>(j)) * sample.x[j];
    Trait before{};
    for (std::size_t t = 0; t < sample.ids.size(); ++t) {
        const Trait trait = trait_of(static_cast<std::uint32_t>(t), sample.ids[t]);
        ids += trait.own;
        for (std::size_t k = 0; k < pair_width; ++k) ids += before.pair[k] * trait.pair[k];
        before = trait;
    }
    return logit + ids / std::sqrt(static_cast<double>(sample.ids.size()));
}

double ClicksGeneratedDataset::logit(std::int64_t index) const { return logit(sample(index)); }

void ClicksGeneratedDataset::read(std::int64_t index, const SampleFields& out) const {
    const Sample made = sample(index);
    const auto x = out.f32(1);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = static_cast<float>(made.x[j]);
    const auto ids = out.i64(0);
    std::copy_n(made.ids.begin(), ids.size(), ids.begin());
    if (const auto label = out.i64(2); !label.empty())
        label[0] = made.decision * (1 + std::exp(-logit(made))) < 1 ? 1 : 0;
}

void ClicksGeneratedDataset::guide(InputGuide& guide) const {
    for (std::size_t j = 0; j < numbers; ++j)
        guide.columns.push_back({generated_names()[j], {}, j});
    for (std::int64_t t = 0; t < tables_; ++t) {
        guide.columns.push_back({.name = "id" + std::to_string(t + 1),
                                 .offset = static_cast<std::size_t>(t),
                                 .id = GuideColumn::Id::decimal});
    }
}

DatasetDescriptor clicks_generated_descriptor() {
    return {.kind = "clicks-generated",
            .title = "Generated clicks",
            .summary = "Numbers and ids made from the seed; a known rule decides the clicks.",
            .unit = "rows",
            .options = generated_options(),
            .schema =
                [](const DatasetConfig& config) {
                    const Sizes sizes(config);
                    return click_schema(generated_names(), sizes.tables, sizes.rows);
                },
            .open = open_clicks};
}

}  // namespace engine
