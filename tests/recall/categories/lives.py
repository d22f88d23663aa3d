"""Invented memories about a few clearly different things, for an embedder that knows spelling."""

GARDEN = [
    "The garden bed needs compost for the garden tomatoes.",
    "Garden tomatoes grow against the south garden wall.",
    "Water the garden tomatoes each morning in the garden.",
    "Garden compost is turned in the garden on Sundays.",
    "The garden wall shelters garden tomatoes from wind.",
]
CELLO = [
    "My cello teacher gave me a cello suite to practise.",
    "The cello bow needs new hair before the cello concert.",
    "I practise cello scales before each cello lesson.",
    "A cello string broke during the cello lesson.",
    "The cello suite is for the summer cello concert.",
]
TRAIN = [
    "The night train to Vienna takes a bicycle on the train.",
    "Train tickets for the night train are booked to Vienna.",
    "The train leaves Zurich at night for Vienna by train.",
    "Our train compartment on the night train has six beds.",
    "A bicycle place on the train to Vienna costs extra.",
]
ALL = [*GARDEN, *CELLO, *TRAIN]
