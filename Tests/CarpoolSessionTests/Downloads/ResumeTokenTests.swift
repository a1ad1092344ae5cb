@testable import CarpoolSession
import CarpoolSystem
import Glibc
import Testing

struct ResumeTokenTests {
    @Test(
        "A token is read as it was written",
        arguments: [EntityValidator.entityTag("\"ä/+\""), .lastModified("Sat, 21 Nov 2026 10:00:00 GMT")])
    func roundTrip(_ validator: EntityValidator) {
        for count in 0..<4 {
            let token = ResumeToken(
                url: "https://a.test/" + String(repeating: "ÿ", count: count), validator: validator, bytes: 7,
                total: count == 0 ? nil : 9, partial: "/tmp/.a.r_1.carpool-part", destination: nil)
            #expect(ResumeToken(token.text) == token)
            #expect(token.text.utf8.allSatisfy { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "+") && $0 != 0x2F })
        }
    }

    @Test(
        "Paths of partial files",
        arguments: [
            ("/x/.a.r_k3_1.carpool-part", "r_k3_1"), ("/x/.a.r_k3_1_2.carpool-part", "r_k3_1_2"),
            ("/x/.a.b.r_1.carpool-part", "r_1"),
            ("/x/a.r_1.carpool-part", nil), ("/x/.r_1.carpool-part", nil), ("/x/.a.r_1.part", nil),
            ("/x/.a.q_1.carpool-part", nil), ("/x/.a.r_../1.carpool-part", nil), ("", nil),
        ] as [(String, String?)])
    func names(_ path: String, _ request: String?) {
        #expect(PartialName.request(ofPath: path) == request)
    }

    @Test("The name of a partial file fits the file system for a file name of any length")
    func longName() {
        let name = PartialName.make(for: String(repeating: "ä", count: 127) + "b", request: "r_k3f9ab_1a")
        #expect(name.utf8.count <= 255)
        #expect(PartialName.request(ofPath: "/x/\(name)") == "r_k3f9ab_1a")
    }

    private func touch(_ path: String, secondsAgo: Int) {
        let time = timeval(tv_sec: time(nil) - secondsAgo, tv_usec: 0)
        utimes(path, [time, time])
    }

    @Test("Old partial files are deleted, young ones and those in use stay, and entries of missing files are dropped")
    func index() throws {
        let (folder, notes) = (DownloadFolder(), DownloadFolder())
        let index = PartialFileIndex(directory: notes.path)
        let store = FileStore(work: InlineWork(), scheduler: ManualScheduler())
        func begun(_ number: Int) -> PartialFile {
            let file = PartialFile(beside: folder("f"), request: "r_\(number)", index: index, store, .process)
            file.begin(for: folder("f"), DownloadOptions(), isResolved: false, isHashed: false) { #expect($0 == nil) }
            return file
        }
        for number in 1...4 {
            let file = begun(number)
            #expect(file.isResumable)
            file.close()
        }
        let used = begun(5)
        #expect(notes.names == ["r_1", "r_2", "r_3", "r_4", "r_5"])
        touch(folder(".f.r_1.carpool-part"), secondsAgo: PartialFileIndex.maximumAge + 60)
        touch(used.currentPath, secondsAgo: PartialFileIndex.maximumAge + 60)
        unlink(folder(".f.r_3.carpool-part"))
        index.removeOld()
        #expect(notes.names == ["r_2", "r_4", "r_5"])
        #expect(folder.names == [".f.r_2.carpool-part", ".f.r_4.carpool-part", ".f.r_5.carpool-part"])
        used.remove()
        #expect(notes.names == ["r_2", "r_4"])
    }

    @Test("The list of partial files is made again if its directory was removed")
    func removedDirectory() {
        let (folder, notes) = (DownloadFolder(), DownloadFolder())
        let store = FileStore(work: InlineWork(), scheduler: ManualScheduler())
        rmdir(notes.path)
        let index = PartialFileIndex(directory: notes.path)
        let file = PartialFile(beside: folder("f"), request: "r_1", index: index, store, .process)
        file.begin(for: folder("f"), DownloadOptions(), isResolved: false, isHashed: false) { #expect($0 == nil) }
        #expect(file.isResumable)
        #expect(notes.names == ["r_1"])
    }

    @Test("A partial file that cannot be recorded is not kept")
    func unremembered() throws {
        let folder = DownloadFolder()
        let store = FileStore(work: InlineWork(), scheduler: ManualScheduler())
        let index = PartialFileIndex(directory: "/proc/nonexistent/partials")
        let file = PartialFile(beside: folder("f"), request: "r_1", index: index, store, .process)
        file.begin(for: folder("f"), DownloadOptions(), isResolved: false, isHashed: false) { #expect($0 == nil) }
        #expect(file.isOpen)
        #expect(!file.isResumable)
    }

    @Test("SHA-256 of nothing, and of pieces (FIPS 180-4)")
    func hashes() {
        #expect(SHA256Hash().finish().prefix(4) == [0xE3, 0xB0, 0xC4, 0x42])
        let hash = SHA256Hash()
        for piece in ["ab", "c"] { Array(piece.utf8).withUnsafeBytes { hash.update($0) } }
        #expect(hash.finish().prefix(4) == [0xBA, 0x78, 0x16, 0xBF])
        #expect(hash.finish().suffix(2) == [0x15, 0xAD])
        #expect(hash.count == 3)
    }
}
