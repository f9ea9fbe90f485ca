#pragma once

#include <memory>
#include <vector>

#include "data/clicks/criteo_reader.h"
#include "data/dataset.h"

namespace engine {

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

}  // namespace engine
