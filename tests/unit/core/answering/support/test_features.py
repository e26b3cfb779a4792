from core.answering.support.check import CERTAIN, FAULTY_FROM, FOREIGN_FROM
from core.answering.support.features import fault_of, features, networks
from core.answering.support.texts import Text


def test_the_networks_have_a_weight_for_each_number() -> None:
    values = features(Text("The mill closed."), Text("The mill closed in 1936."), (), 0.5)

    assert {len(row) for network in networks() for row in network.hidden} == {len(values)}
    assert all(len(network.output) == len(network.hidden) + 1 for network in networks())


def test_what_code_is_sure_of_is_marked() -> None:
    assert max(FAULTY_FROM, FOREIGN_FROM) <= CERTAIN


def test_quotes_about_something_else_make_a_fault_likely() -> None:
    same = features(Text("Kell closed the mill."), Text("The mill was closed by Kell."), (), 0.98)
    other = features(Text("The orchard has old apple trees."), Text("The sawmill belongs to a carpenter."), (), 0.02)

    assert fault_of(same) < FAULTY_FROM < fault_of(other)
