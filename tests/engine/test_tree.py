"""Trees against networkx, over random shapes."""

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.tree import TokenTree, Topology


@st.composite
def shapes(draw):
    size = draw(st.integers(1, 40))
    return Topology((-1, *(draw(st.integers(0, node - 1)) for node in range(1, size))))


def graph_of(shape):
    return networkx.DiGraph({node: below for node, below in enumerate(shape.children)})


@given(shapes())
def test_depth_and_paths_are_those_of_networkx(shape):
    graph = graph_of(shape)
    assert networkx.is_arborescence(graph)
    assert dict(enumerate(shape.depth.tolist())) == networkx.shortest_path_length(graph, 0)
    for node in range(len(shape)):
        above = networkx.ancestors(graph, node) | {node}
        assert set(shape.path(node)) == above - {0}
        assert list(shape.children[node]) == sorted(graph.successors(node))


@given(shapes())
def test_orders_visit_every_node_parents_first(shape):
    for order in (shape.breadth_first, shape.heavy_path):
        place = {node: i for i, node in enumerate(order)}
        assert sorted(order) == list(range(len(shape)))
        assert all(
            place[parent] < place[node] for node, parent in enumerate(shape.parents) if parent >= 0
        )
    heaviest = [
        sorted(below, key=lambda child: -shape.subtree_size[child]) for below in shape.children
    ]
    graph = networkx.DiGraph({node: below for node, below in enumerate(heaviest)})
    assert list(shape.heavy_path) == list(networkx.dfs_preorder_nodes(graph, 0))
    assert sorted(shape.depth.tolist()) == [int(shape.depth[node]) for node in shape.breadth_first]


@given(shapes())
def test_rank_counts_siblings_in_drawing_order(shape):
    for children in shape.children:
        assert [int(shape.rank[child]) for child in children] == list(range(len(children)))


@pytest.mark.parametrize("parents", [(), (0,), (-1, 1), (-1, 0, 5), (-1, -1)])
def test_impossible_shapes_are_rejected_in_a_sentence(parents):
    with pytest.raises(ValueError, match="parents"):
        Topology(parents)


def test_a_token_tree_grows_and_knows_positions():
    tree = TokenTree(root=7, start=10)
    child = tree.add(0, 2)
    grandchild = tree.add(child, 1)
    assert tree.parents == [-1, 0, 1] and tree.tokens == [7, 2, 1]
    assert tree.next_position(0) == 11 and tree.next_position(grandchild) == 13
    assert tree.children == ((1,), (2,), ())
    tree.add(0, 0)
    assert tree.children == ((1, 3), (2,), (), ())  # the shape follows the tree
