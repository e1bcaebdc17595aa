@main
enum TapRace { static func main() {} }
