#pragma once

#include <vector>

#include "data/detection/average_precision.h"
#include "support/drawn_numbers.h"

// Pictures with truths and detections, as tests/peer/coco_metric.py draws them.
namespace drawn {

using Box = std::array<double, 4>;

struct Picture {
    engine::DetectionTruth truth{};
    std::vector<engine::Detection> detections{};
};

/// A rectangle or a diamond.
inline engine::MaskPolygons shape(int kind, const Box& box) {
    const auto [x, y, w, h] = box;
    if (kind == 0) return {{x, y, x + w, y, x + w, y + h, x, y + h}};
    return {{x + w / 2, y, x + w, y + h / 2, x + w / 2, y + h, x, y + h / 2}};
}

inline engine::Detection detection(int label, double score, const Box& box, int kind,
                                   const engine::DetectionTruth& truth) {
    return {.label = label,
            .score = score,
            .box = box,
            .mask = engine::fill_polygons(shape(kind, box), truth.height, truth.width)};
}

inline Box box(support::DrawnNumbers& draw, int height, int width) {
    Box box{};
    box[0] = draw.below(4 * width) / 4.0;
    box[1] = draw.below(4 * height) / 4.0;
    box[2] = (1 + draw.below(400)) / 4.0;
    box[3] = (1 + draw.below(400)) / 4.0;
    return box;
}

inline Picture picture(support::DrawnNumbers& draw, int classes) {
    Picture out;
    auto& truth = out.truth;
    truth.height = 40 + draw.below(120);
    truth.width = 40 + draw.below(120);
    const int truths = draw.below(7);
    for (int i = 0; i < truths; ++i) {
        auto& each = truth.annotations.emplace_back();
        each.label = 1 + draw.below(classes);
        each.box = box(draw, truth.height, truth.width);
        each.area = each.box[2] * each.box[3] * (1 + draw.below(8)) / 8;
        each.crowd = draw.one_in(8);
        each.mask = shape(draw.below(2), each.box);
    }
    int count = draw.below(12);
    if (draw.one_in(40)) count += 110;
    for (int i = 0; i < count; ++i) {
        int label = 1 + draw.below(classes);
        Box place{};
        if (truths > 0 && !draw.one_in(4)) {
            const auto& near = truth.annotations[static_cast<std::size_t>(draw.below(truths))];
            if (!draw.one_in(8)) label = near.label;
            place[0] = near.box[0] + (draw.below(9) - 4) * near.box[2] / 32;
            place[1] = near.box[1] + (draw.below(9) - 4) * near.box[3] / 32;
            place[2] = near.box[2] * (28 + draw.below(9)) / 32;
            place[3] = near.box[3] * (28 + draw.below(9)) / 32;
        } else {
            place = box(draw, truth.height, truth.width);
        }
        const double score = draw.one_in(2) ? (1 + draw.below(16)) / 16.0 : draw.fraction();
        out.detections.push_back(detection(label, score, place, draw.below(2), truth));
    }
    return out;
}

/// The pictures of set `number`, with ids from 1, and the number of their classes.
inline std::vector<Picture> pictures(int number, int& classes) {
    support::DrawnNumbers draw(1005, static_cast<std::uint32_t>(number));
    std::vector<Picture> out(static_cast<std::size_t>(1 + draw.below(40)));
    classes = 1 + draw.below(5);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = picture(draw, classes);
        out[i].truth.image_id = static_cast<std::int64_t>(i + 1);
    }
    return out;
}

inline std::vector<engine::PictureMatches> matches(const std::vector<Picture>& pictures) {
    std::vector<engine::PictureMatches> out;
    for (const Picture& each : pictures)
        out.push_back(match_picture(static_cast<std::int64_t>(out.size()), each.truth,
                                    each.detections, true));
    return out;
}

}  // namespace drawn
