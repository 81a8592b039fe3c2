"""How a document looks: fixed words in four languages, figures in their form, one typst template."""
