from backread.cli import main

main()
