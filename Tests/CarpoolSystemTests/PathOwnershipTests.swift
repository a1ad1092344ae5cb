@testable import CarpoolSystem
import Glibc
import Testing

struct PathOwnershipTests {
    private let folder = TemporaryDirectory()
    private let uid = geteuid()

    @Test("A path of this user below a sticky folder is its own, whether it exists or not")
    func own() {
        #expect(PathOwnership.foreignPart(of: folder.path) == nil)
        #expect(PathOwnership.foreignPart(of: folder("a/b/../c")) == nil)
        #expect(PathOwnership.foreignPart(of: "/") == nil)
    }

    @Test("A folder of another user is foreign, and so is everything below it")
    func foreign() {
        mkdir(folder("theirs"), 0o755)
        // For another user, this one's folders are foreign.
        if uid != 0 {
            #expect(PathOwnership.foreignPart(of: folder("theirs"), uid: uid + 1) == folder.path)
        } else {
            chown(folder("theirs"), 65_534, 65_534)
            #expect(PathOwnership.foreignPart(of: folder("theirs/cache")) == folder("theirs"))
            symlink(folder("theirs"), folder("link"))
            #expect(PathOwnership.foreignPart(of: folder("link/cache")) == folder("theirs"))
            symlink("/usr", folder("their-link"))
            lchown(folder("their-link"), 65_534, 65_534)
            #expect(PathOwnership.foreignPart(of: folder("their-link/bin")) == folder("their-link"))
        }
    }

    @Test("A folder in which all users may replace names is foreign; with the sticky bit it is not")
    func shared() {
        mkdir(folder("shared"), 0o755)
        chmod(folder("shared"), 0o777)
        #expect(PathOwnership.foreignPart(of: folder("shared/cache")) == folder("shared"))
        chmod(folder("shared"), 0o1777)
        #expect(PathOwnership.foreignPart(of: folder("shared/cache")) == nil)
    }

    @Test("Links that lead nowhere, or in a circle, are not followed for ever")
    func links() {
        symlink("loop", folder("loop"))
        #expect(PathOwnership.foreignPart(of: folder("loop/x")) == folder("loop"))
        symlink(folder("missing"), folder("dangling"))
        #expect(PathOwnership.foreignPart(of: folder("dangling/x")) == nil)
        #expect(PathOwnership.foreignPart(of: "no-such-file") == nil)
    }
}
