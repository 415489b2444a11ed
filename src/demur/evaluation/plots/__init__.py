"""Pictures as SVG or PNG; ``pip install 'demur[report]'`` brings what draws them."""
