#include "op_samples.h"
#include "ops/linalg/distance.h"
#include "ops/linalg/similarity.h"

namespace engine {

void add_distances_samples(std::vector<OpSample>& out) {
    using In = const TensorList&;
    const auto add = [&](const char* op, const char* label, Function f, std::vector<Shape> shapes,
                         double length, double low = -2, double high = 2) {
        out.push_back({op, label, std::move(f), std::move(shapes), low, high, {}, length});
    };
    add(
        "dist", "two", [](In x) { return dist(x[0], x[1]); }, {{3, 4}, {4}}, 12);
    add(
        "dist", "threehalves", [](In x) { return dist(x[0], x[1], 1.5); }, {{5}, {5}}, 5);
    add(
        "cdist", "two", [](In x) { return cdist(x[0], x[1]); }, {{3, 4}, {2, 4}}, 4);
    add(
        "cdist", "batched", [](In x) { return cdist(x[0], x[1], 3); }, {{2, 3, 2}, {1, 2, 2}}, 2);
    add(
        "pdist", "two", [](In x) { return pdist(x[0]); }, {{4, 3}}, 3);
    add(
        "pdist", "one", [](In x) { return pdist(x[0], 1); }, {{3, 3}}, 3);
    add(
        "renorm", "rows", [](In x) { return renorm(x[0], 2, 0, 1.5); }, {{3, 4}}, 4);
    add(
        "renorm", "three", [](In x) { return renorm(x[0], 3, -1, 1); }, {{2, 3, 2}}, 6, 0.5, 2);
    add(
        "cosine_similarity", "rows", [](In x) { return cosine_similarity(x[0], x[1]); },
        {{3, 4}, {3, 4}}, 8);
    add(
        "cosine_similarity", "broadcast",
        [](In x) { return cosine_similarity(x[0], x[1], 0, 1e-3); }, {{3, 2}, {3, 1}}, 6);
    add(
        "normalize", "rows", [](In x) { return normalize(x[0]); }, {{3, 4}}, 4);
    add(
        "normalize", "one", [](In x) { return normalize(x[0], 1, 0); }, {{3, 4}}, 3);
}

}  // namespace engine
