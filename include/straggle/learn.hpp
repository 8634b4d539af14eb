// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

/// @file
/// The room `learn/`: which node will be weak next?
/// Begin with `learn::node_days`, `learn::forecaster`.
#pragma once

#include <straggle/learn/boosted_trees.hpp>
#include <straggle/learn/boosted_trees_trainer.hpp>
#include <straggle/learn/classifier.hpp>
#include <straggle/learn/feature_matrix.hpp>
#include <straggle/learn/features.hpp>
#include <straggle/learn/forecast.hpp>
#include <straggle/learn/forecast_model.hpp>
#include <straggle/learn/kmeans.hpp>
#include <straggle/learn/labeling.hpp>
#include <straggle/learn/outlook.hpp>
#include <straggle/learn/tree_node.hpp>
#include <straggle/learn/weak_nodes.hpp>
