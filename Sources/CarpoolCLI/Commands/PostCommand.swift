/// `carpool post`
enum PostCommand: BodyCommand {
    static let name = "post"
    static let method = "POST"
    static let summary = "send a body to a URL"

    static var examples: [String] {
        [
            "carpool post --json '{\"name\": \"Ada\"}' https://example.com/people",
            "tar c . | carpool post -H 'Content-Type: application/x-tar' -T - https://example.com/upload",
            "carpool post -F title=Sunset -F 'photo=@sunset.jpg;type=image/jpeg' https://example.com/photos",
        ]
    }
}
