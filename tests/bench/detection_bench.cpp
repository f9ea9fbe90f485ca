// COCO's metric and its file at the size of COCO: 5,000 pictures with 36,000 truths and 100
// detections each on two threads, from the rows of a detector to the 24 figures; and a file of
// 860,000 annotations in 448 MB.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "data/detection/mask_paste.h"
#include "data/worker_pool.h"
#include "engine/io/coco/text_source.h"
#include "io/coco/coco_reader.h"
#include "support/drawn_numbers.h"

namespace {

using namespace engine;
using support::DrawnNumbers;

constexpr int classes = 80;
constexpr PictureSizes sizes{
    .height = 800, .width = 1066, .stored_height = 480, .stored_width = 640};
constexpr std::size_t side = 28, columns = 6 + side * side;

std::array<double, 4> drawn_box(DrawnNumbers& draw) {
    const double width = 10 * std::exp(3.4 * draw.fraction());
    const double height = 10 * std::exp(3.4 * draw.fraction());
    return {draw.fraction() * std::max(1.0, sizes.stored_width - width),
            draw.fraction() * std::max(1.0, sizes.stored_height - height), width, height};
}

DetectionTruth drawn_truth(DrawnNumbers& draw, std::int64_t id) {
    DetectionTruth truth{
        .image_id = id, .height = sizes.stored_height, .width = sizes.stored_width};
    const int count = 4 + draw.below(7), first = draw.below(classes);
    for (int i = 0; i < count; ++i) {
        const auto box = drawn_box(draw);
        const auto [x, y, w, h] = box;
        std::vector<double> points;
        for (int k = 0; k < 25; ++k) {
            const double angle = k * 0.2513274, radius = 0.35 + 0.15 * draw.fraction();
            points.push_back(x + w * (0.5 + radius * std::cos(angle)));
            points.push_back(y + h * (0.5 + radius * std::sin(angle)));
        }
        truth.annotations.push_back({.label = 1 + (first + draw.below(3)) % classes,
                                     .box = box,
                                     .area = w * h * 0.6,
                                     .crowd = draw.one_in(90),
                                     .mask = MaskPolygons{points}});
    }
    return truth;
}

/// Rows of a detector: half lie near a truth.
std::vector<float> drawn_rows(DrawnNumbers& draw, const DetectionTruth& truth) {
    const double grown = static_cast<double>(sizes.width) / sizes.stored_width;
    std::vector<float> rows(100 * columns);
    for (std::size_t i = 0; i < 100; ++i) {
        const auto& near = truth.annotations[static_cast<std::size_t>(
            draw.below(static_cast<int>(truth.annotations.size())))];
        const auto box = draw.one_in(2) ? near.box : drawn_box(draw);
        float* const row = rows.data() + i * columns;
        const double moved = (draw.fraction() - 0.5) * 0.2 * box[2];
        const std::array<double, 4> corners = {box[0] + moved, box[1], box[0] + moved + box[2],
                                               box[1] + box[3]};
        for (std::size_t k = 0; k < 4; ++k) row[k] = static_cast<float>(corners[k] * grown);
        row[4] = static_cast<float>(draw.fraction());
        row[5] = static_cast<float>(near.label);
        for (std::size_t y = 0; y < side; ++y) {
            for (std::size_t x = 0; x < side; ++x) {
                const double far =
                    std::hypot(static_cast<double>(x) - 13.5, static_cast<double>(y) - 13.5);
                row[6 + y * side + x] = static_cast<float>(1 / (1 + std::exp(far - 11)));
            }
        }
    }
    return rows;
}

void metric(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    std::vector<DetectionTruth> truths;
    std::vector<std::vector<float>> rows;  // of 50 pictures, used in turn
    for (std::size_t i = 0; i < count; ++i) {
        DrawnNumbers draw(1, static_cast<std::uint32_t>(i));
        truths.push_back(drawn_truth(draw, static_cast<std::int64_t>(i)));
        if (i < 50)
            rows.push_back(drawn_rows(draw, truths.back()));
        else
            truths.back().annotations = truths[i % 50].annotations;
    }
    WorkerPool pool(2);
    for (auto _ : state) {
        std::vector<PictureMatches> matches(count);
        pool.run(count, [&](std::size_t i, std::size_t) {
            const auto found = place_detections(rows[i % rows.size()], columns, sizes);
            matches[i] = match_picture(static_cast<std::int64_t>(i), truths[i], found, true);
        });
        double sum = 0;
        for (const auto kind : {OverlapKind::box, OverlapKind::mask})
            sum += average_precision(matches, kind, classes).values[0];
        benchmark::DoNotOptimize(sum);
        state.counters["AP"] = sum / 2;
    }
}
BENCHMARK(metric)->Arg(500)->Arg(5000)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

/// The text of a COCO file, made as it is read.
class GeneratedFile {
public:
    explicit GeneratedFile(std::int64_t annotations) : annotations_(annotations) {
        DrawnNumbers draw(2, 0);
        for (std::string& each : bodies_) {
            each =
                R"(,"category_id":)" + std::to_string(1 + draw.below(classes)) +
                R"(,"area":1234.5678,"iscrowd":0,"bbox":[12.34,56.78,123.4,45.67],"segmentation":[[)";
            for (int k = 0; k < 58; ++k)
                each += (k > 0 ? "," : "") + std::to_string(draw.below(640)) + "." +
                        std::to_string(10 + draw.below(90));
            each += "]]}";
        }
    }
    bool next_line(std::string& line) {
        const std::int64_t images = std::max<std::int64_t>(1, annotations_ / 7);
        const std::int64_t annotation = line_number_ - images - 1;
        if (line_number_ == 0) {
            line = R"({"categories":[)";
            for (int i = 1; i <= classes; ++i)
                line += (i > 1 ? "," : "") + std::string(R"({"id":)") + std::to_string(i) +
                         R"(,"name":"class )" + std::to_string(i) + "\"}";
            line += R"(],"images":[)";
        } else if (line_number_ <= images) {
            line = (line_number_ > 1 ? "," : "") +
                    std::string(R"({"license":3,"file_name":"000000)") +
                    std::to_string(line_number_) + R"(.jpg","height":480,"width":640,"id":)" +
                    std::to_string(line_number_) + "}";
        } else if (annotation < annotations_) {
            line = (annotation > 0 ? "," : R"(],"annotations":[)") + std::string(R"({"id":)") +
                    std::to_string(annotation + 1) + R"(,"image_id":)" +
                    std::to_string(1 + annotation % images) +
                    bodies_[static_cast<std::size_t>(annotation) % bodies_.size()];
        } else if (annotation == annotations_) {
            line = "]}";
        } else {
            return false;
        }
        ++line_number_;
        return true;
    }

private:
    std::int64_t annotations_, line_number_ = 0;
    std::array<std::string, 997> bodies_;
};

void file(benchmark::State& state) {
    for (auto _ : state) {
        auto text = std::make_shared<LineSource<GeneratedFile>>(GeneratedFile(state.range(0)));
        const CocoFile coco = read_coco(
            "generated.json", [text](std::span<std::uint8_t> out) { return (*text)(out); });
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        state.counters["MB"] = static_cast<double>(text->bytes()) / 1e6;
        state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
        state.counters["annotations"] = static_cast<double>(coco.annotations.size());
    }
}
BENCHMARK(file)->Arg(860'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
