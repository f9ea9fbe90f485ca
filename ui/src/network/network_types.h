#pragma once

#include <QStringList>
#include <string>
#include <vector>

#include "engine/models/network_types.h"
#include "engine/settings/run_config.h"

class QMenu;

namespace ui {

class NetworkModel;

/// The types of a text's operations, predicted for a precision.
struct NetworkTypes {
    std::string preset;
    std::vector<engine::PredictedType> operations;
    std::vector<std::string> rows;     ///< of CheckedNetwork::rows: "f16", "f16, f32"; empty: none
    std::vector<bool> fused;           ///< of each row: it is computed in the batch norm above it
    std::vector<std::string> unknown;  ///< keys of precision.force that the text does not have

    /// The first operation of a row that has a type; null: none has.
    const engine::PredictedType* find(int row) const;
};

/// A text with a fault has those of its lines without one.
NetworkTypes predictTypes(const std::string& text, const engine::CheckedNetwork& network, const engine::NetworkData& data,
                          const engine::PrecisionConfig& precision);

/// An operation of the forward pass of a traced step.
struct MeasuredType {
    std::string module, op;
    std::string type{};    ///< that it computed in
    std::string result{};  ///< that it wrote; empty: no numbers with fractions

    friend bool operator==(const MeasuredType&, const MeasuredType&) = default;
};

/// A traced step, and the text whose network it ran; without lines another network.
struct TracedStep {
    std::vector<MeasuredType> types;
    std::string preset;
    QStringList lines;

    friend bool operator==(const TracedStep&, const TracedStep&) = default;
};

/// The types of each row in a traced step: the n-th operation of a name in a module is the n-th
/// predicted one. Rows that are not in it are empty. `same`: the step ran this very text; of another
/// one, a name counts only where both have as many of its operations.
std::vector<std::string> measuredByRow(const NetworkTypes& predicted, const std::vector<MeasuredType>& measured, bool same = true);

/// How the type of a row is forced.
struct ForceTarget {
    std::string key;  ///< of precision.force; empty: its operations follow their inputs
    int others = 0;   ///< further rows that the key means
};
ForceTarget forceTarget(const NetworkTypes& types, const engine::CheckedNetwork& network, int row);

/// Adds a choice for each type that a row can be forced to.
void addTypeChoices(QMenu* menu, NetworkModel* model, int row);

}  // namespace ui
