#include "feed/row_source.h"

#include <algorithm>
#include <limits>

#include "engine/base/error.h"

namespace ui {

using engine::StepRecord;

Figure columnOf(XKind kind) {
    if (kind == XKind::update) return &StepRecord::updates;
    if (kind == XKind::sample) return &StepRecord::samples;
    if (kind == XKind::clock) return &StepRecord::clock_s;
    return &StepRecord::elapsed_s;
}

namespace {

class RecordSource final : public RowSource {
public:
    explicit RecordSource(engine::StepRecordReader reader) : reader_(std::move(reader)) {}
    std::int64_t size() const override { return reader_.size(); }
    StepRecord row(std::int64_t index) const override {
        StepRecord row{};
        read([&] { row = reader_.row(index); });
        return row;
    }
    void column(Figure figure, std::int64_t first, std::span<double> out) const override {
        if (!read([&] { figure.read(reader_, first, out); }))
            std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
    }
    void xColumn(XKind kind, std::int64_t first, std::span<double> out) const override {
        if (!read([&] { columnOf(kind).read(reader_, first, out); }))
            std::fill(out.begin(), out.end(), 0.0);
    }
    engine::Message problem() const override { return problem_; }
    engine::StepRecordReader reader() const override { return reader_; }

private:
    /// False if the record could not be read, now or before: another program cut its file short.
    template <typename F>
    bool read(F&& f) const {
        if (!problem_.empty()) return false;
        try {
            f();
            return true;
        } catch (const engine::Error& error) {
            problem_ = error.message();
            return false;
        }
    }

    engine::StepRecordReader reader_;
    mutable engine::Message problem_;
};

}  // namespace

std::shared_ptr<RowSource> recordSource(engine::StepRecordReader reader) {
    return std::make_shared<RecordSource>(std::move(reader));
}

}  // namespace ui
