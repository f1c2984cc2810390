"""The pages that people read in a browser: catalogue, solve page, results, cases. Cookies only, no SQL, no grading."""
