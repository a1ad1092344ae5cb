/// `carpool delete`
enum DeleteCommand: BodyCommand {
    static let name = "delete"
    static let method = "DELETE"
    static let summary = "delete the resource at a URL"

    static var examples: [String] { ["carpool delete https://example.com/people/1"] }
}
