#pragma once

#include "engine/base/metric.h"

namespace engine {

/// Figures of a classifier for one part of the data.
inline PartFigures classified(double loss, double accuracy) {
    return {loss, {{"accuracy", accuracy}}};
}

}  // namespace engine
