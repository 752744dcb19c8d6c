from cooperation.cli import main

main()
